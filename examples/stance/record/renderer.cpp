#include "record/renderer.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "batchsim/error.h"
#include "record/gl_context.h"

namespace stance {
namespace {

using batchsim::Error;

// m
constexpr double kTile = 0.5, kNear = 0.05, kFar = 60, kShadowRadius = 4;
// behind the body, as the camera sees it
constexpr double kFogStart = 1.2, kFogEnd = 5.2, kWall = 8;
constexpr double kArrowPerNewton = 0.004, kArrowLeast = 0.25, kArrowMost = 1.2, kArrowWidth = 0.03;
constexpr double kArrowGap = 0.15;  // a tip at the middle of a body would be hidden in it
constexpr float kSunDistance = 20;  // m; what is behind it casts no shadow
constexpr int kMaxGeoms = 4000;

constexpr float kSky[4] = {0.80f, 0.86f, 0.92f, 1}, kFloor[4] = {0.62f, 0.66f, 0.70f, 1}, kDarkTile[4] = {0.52f, 0.56f, 0.61f, 1},
                kArrow[4] = {0.95f, 0.35f, 0.05f, 1};
// left and right can be told apart from any side
constexpr float kTrunk[4] = {0.86f, 0.80f, 0.70f, 1}, kLeft[4] = {0.42f, 0.62f, 0.80f, 1}, kRight[4] = {0.85f, 0.60f, 0.42f, 1};

struct ModelFree {
  void operator()(mjModel* m) const { mj_deleteModel(m); }
};
struct DataFree {
  void operator()(mjData* d) const { mj_deleteData(d); }
};

void copy4(float to[4], const float from[4]) { std::copy_n(from, 4, to); }

// geoms that have no colour of their own get one by their side
void paint(mjModel* m) {
  for (int i = 0; i < m->ngeom; i++) {
    float* rgba = m->geom_rgba + 4 * i;
    const bool plain = m->geom_matid[i] < 0 && std::all_of(rgba, rgba + 3, [](float x) { return x == 0.5f; });
    if (!plain) continue;
    const char* name = mj_id2name(m, mjOBJ_BODY, m->geom_bodyid[i]);
    const std::string_view body = name ? name : "";
    if (m->geom_type[i] == mjGEOM_PLANE)
      copy4(rgba, kFloor);
    else
      copy4(rgba, body.starts_with("l_") ? kLeft : body.starts_with("r_") ? kRight : kTrunk);
  }
}

std::unique_ptr<mjModel, ModelFree> dressed(const mjModel* original, int width, int height) {
  if (width < 16 || height < 16 || width > 4096 || height > 4096)
    throw Error(Error::kInput, "pictures of " + std::to_string(width) + " x " + std::to_string(height) +
                                   " pixels; allowed are 16 ... 4096 each way");
  std::unique_ptr<mjModel, ModelFree> m(mj_copyModel(nullptr, original));
  if (!m) throw Error(Error::kCapacity, "no memory for a copy of the model to render");
  m->vis.global.offwidth = width, m->vis.global.offheight = height;
  m->vis.global.fovy = 35;
  m->vis.quality.offsamples = 4, m->vis.quality.shadowsize = 2048, m->vis.quality.numquads = 1;
  m->vis.quality.numslices = 20, m->vis.quality.numstacks = 12;
  // lengths here are in extents
  const auto extent = static_cast<float>(std::max(m->stat.extent, 1e-6));
  m->vis.map.znear = kNear / extent, m->vis.map.zfar = kFar / extent;
  m->vis.map.shadowclip = kShadowRadius / extent;
  copy4(m->vis.rgba.fog, kSky);
  if (m->nlight == 0)
    for (int i = 0; i < 3; i++) {
      m->vis.headlight.ambient[i] = 0.35f, m->vis.headlight.diffuse[i] = 0.30f, m->vis.headlight.specular[i] = 0.05f;
    }
  paint(m.get());
  return m;
}

mjvScene make_scene(const mjModel* m) {
  mjvScene s;
  mjv_defaultScene(&s);
  mjv_makeScene(m, &s, kMaxGeoms);
  return s;
}

}  // namespace

struct Renderer::Parts {
  std::unique_ptr<mjModel, ModelFree> model;
  // mjv_updateScene wants to write to its data
  std::unique_ptr<mjData, DataFree> data;
  GlContext gl;
  mjvScene scene;
  mjrContext context;
  mjvCamera camera;
  mjvOption option;
  int width, height, followed;
  double fog_distance = 0;  // what the context was made for
  bool has_arrow = false;
  double arrow_from[3] = {}, arrow_to[3] = {};

  Parts(const mjModel* m, int width, int height)
      : model(dressed(m, width, height)),
        data(mj_makeData(model.get())),
        scene(make_scene(model.get())),
        width(width),
        height(height) {
    mjr_defaultContext(&context);
    mjv_defaultFreeCamera(model.get(), &camera);
    mjv_defaultOption(&option);
    // frames of reference and sensors
    std::fill_n(option.sitegroup, mjNGROUP, mjtByte(0));
    scene.flags[mjRND_FOG] = 1, scene.flags[mjRND_REFLECTION] = 0;
    const int pelvis = mj_name2id(model.get(), mjOBJ_BODY, "pelvis");
    followed = pelvis >= 0 ? pelvis : model->nbody > 1 ? 1 : 0;
  }
  ~Parts() {
    mjv_freeScene(&scene);
    try {
      gl.make_current();
      mjr_freeContext(&context);
    } catch (const Error&) {
      // current in another thread still: what it holds goes with the context
    }
  }

  // the fog starts behind the body; MuJoCo sets where only when it makes a context
  void make_context() {
    if (camera.distance == fog_distance) return;
    const double extent = std::max(model->stat.extent, 1e-6);
    model->vis.map.fogstart = static_cast<float>((camera.distance + kFogStart) / extent);
    model->vis.map.fogend = static_cast<float>((camera.distance + kFogEnd) / extent);
    mjr_makeContext(model.get(), &context, mjFONTSCALE_100);
    fog_distance = camera.distance;
  }

  mjvGeom* add(int type, const mjtNum size[3], const mjtNum pos[3], const mjtNum mat[9], const float rgba[4]) {
    if (scene.ngeom == scene.maxgeom) return nullptr;
    mjvGeom& g = scene.geoms[scene.ngeom++];
    mjv_initGeom(&g, type, size, pos, mat, rgba);
    g.category = mjCAT_DECOR;
    g.castshadow = 0, g.specular = 0;
    return &g;
  }

  // the dark half of a chequered floor, as far as the fog lets the camera see; its tiles keep their places
  void add_tiles() {
    const double x0 = camera.lookat[0], y0 = camera.lookat[1], reach = kFogEnd + kTile;
    const auto first = [&](double x) { return static_cast<int>(std::floor((x - reach) / kTile)); };
    const int n = static_cast<int>(2 * reach / kTile) + 1;
    for (int x = first(x0); x <= first(x0) + n; x++)
      for (int y = first(y0); y <= first(y0) + n; y++) {
        const mjtNum size[3] = {kTile / 2, kTile / 2, 5e-4}, pos[3] = {(x + 0.5) * kTile, (y + 0.5) * kTile, 0};
        if ((x + y) % 2 == 0 && std::hypot(pos[0] - x0, pos[1] - y0) < reach) add(mjGEOM_BOX, size, pos, nullptr, kDarkTile);
      }
  }

  // MuJoCo's background is black without a skybox: a wall deep in the fog, across the view, has the fog's colour
  void add_sky() {
    const double a = camera.azimuth * mjPI / 180, c = std::cos(a), s = std::sin(a);
    const mjtNum size[3] = {0.1, 50, 50}, pos[3] = {camera.lookat[0] + kWall * c, camera.lookat[1] + kWall * s, 0};
    const mjtNum mat[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
    add(mjGEOM_BOX, size, pos, mat, kSky);
  }

  void add_arrow() {
    mjvGeom* g = add(mjGEOM_ARROW, nullptr, nullptr, nullptr, kArrow);
    if (!g) return;
    mjv_connector(g, mjGEOM_ARROW, kArrowWidth, arrow_from, arrow_to);
    g->size[2] *= 2;  // MuJoCo draws an arrow over half of this
    g->emission = 0.4f;
  }

  // a sun, where the model has no light
  void add_sun() {
    if (model->nlight || scene.nlight >= mjMAXLIGHT) return;
    mjvLight& sun = scene.lights[scene.nlight++];
    sun = {};
    sun.id = -1, sun.texid = -1;
    sun.type = mjLIGHT_DIRECTIONAL;
    const float dir[3] = {-0.45f, 0.35f, -0.82f};
    for (int i = 0; i < 3; i++) {
      sun.dir[i] = dir[i];
      sun.pos[i] = static_cast<float>(camera.lookat[i]) - kSunDistance * dir[i];
      sun.diffuse[i] = 0.55f, sun.specular[i] = 0.15f;
    }
    sun.attenuation[0] = 1, sun.castshadow = 1;
  }
};

Renderer::Renderer(const mjModel* m, int width, int height) : parts_(std::make_unique<Parts>(m, width, height)) {
  look(145, -12, 3.8);
  parts_->camera.lookat[2] = 0.85;
}

Renderer::~Renderer() = default;

Image Renderer::frame(const mjData* d) {
  Parts& p = *parts_;
  p.gl.make_current();
  mjv_copyData(p.data.get(), p.model.get(), d);
  const mjtNum* at = p.data->xpos + 3 * p.followed;
  // a state that has blown up leaves the camera where it was
  if (std::abs(at[0]) < 1e6 && std::abs(at[1]) < 1e6) p.camera.lookat[0] = at[0], p.camera.lookat[1] = at[1];
  p.make_context();
  mjv_updateScene(p.model.get(), p.data.get(), &p.option, nullptr, &p.camera, mjCAT_ALL, &p.scene);
  // a floor has nothing to cast a shadow on but, by rounding, itself
  for (mjvGeom* g = p.scene.geoms; g != p.scene.geoms + p.scene.ngeom; g++)
    if (g->type == mjGEOM_PLANE) g->castshadow = 0;
  if (p.has_arrow) p.add_arrow();
  p.add_sky();
  p.add_tiles();
  p.add_sun();

  const mjrRect all{0, 0, p.width, p.height};
  mjr_setBuffer(mjFB_OFFSCREEN, &p.context);
  mjr_render(all, &p.scene, &p.context);
  Image image(p.width, p.height);
  mjr_readPixels(image.rgb.data(), nullptr, all, &p.context);
  // OpenGL's first row is the lowest
  for (int y = 0; y < p.height / 2; y++)
    std::swap_ranges(image.at(0, y), image.at(0, y) + 3 * p.width, image.at(0, p.height - 1 - y));
  return image;
}

void Renderer::look(double azimuth, double elevation, double distance) {
  if (!(distance >= 0.5 && distance <= 30))
    throw Error(Error::kInput, "the camera is " + std::to_string(distance) + " m away; allowed are 0.5 ... 30");
  parts_->camera.azimuth = azimuth, parts_->camera.elevation = elevation, parts_->camera.distance = distance;
}

void Renderer::arrow(const double at[3], const double force[3]) {
  Parts& p = *parts_;
  const double newtons = std::hypot(force[0], force[1], force[2]);
  p.has_arrow = newtons > 0;
  const double length = std::clamp(kArrowPerNewton * newtons, kArrowLeast, kArrowMost);
  for (int i = 0; p.has_arrow && i < 3; i++) {
    p.arrow_to[i] = at[i] - kArrowGap * force[i] / newtons;
    p.arrow_from[i] = p.arrow_to[i] - length * force[i] / newtons;
  }
}

void Renderer::clear_arrow() { parts_->has_arrow = false; }

const std::string& Renderer::device() const { return parts_->gl.describe(); }

}  // namespace stance
