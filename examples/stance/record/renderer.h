// Pictures of a body by MuJoCo's own renderer: on a chequered floor, followed by a camera, with an arrow for a shove.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <string>

#include "record/image.h"

namespace stance {

class Renderer {
 public:
  /// The model is copied. width, height: 16 ... 4096 pixels. Error: kInput for another size, kDevice as GlContext.
  Renderer(const mjModel* m, int width, int height);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  /// d: of the same model, its positions computed (mj_forward, or a batch's export).
  Image frame(const mjData* d);

  /// azimuth, elevation: degrees; distance: 0.5 ... 30 m, else Error(kInput). The camera looks at the middle of the standing body
  /// and goes with its pelvis (else its root) over the floor. azimuth: the way the camera looks, 180 sees a body that faces +x from
  /// the front; elevation: below zero looks down.
  void look(double azimuth, double elevation, double distance);
  /// at: m, what is pushed: the arrow points at it and ends a hand's breadth before; force: N, 4 mm of it each, 0.25 ... 1.2 m. In
  /// all frames until it is cleared.
  void arrow(const double at[3], const double force[3]);
  void clear_arrow();

  /// the OpenGL it uses
  const std::string& device() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace stance
