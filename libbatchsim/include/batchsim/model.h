// A compiled model: MuJoCo's mjModel, and the flat arrays that the kernels read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "batchsim/error.h"

typedef struct mjModel_ mjModel;

namespace batchsim {

struct FlatModel;
struct LoadedModel;

/// Immutable and cheap to copy; copies share one model, threads may too.
///
/// Loading throws Error: kInput with MuJoCo's own message if MuJoCo rejects the model, kUnsupported with everything that batchsim
/// does not implement in it, kCapacity if it is too large.
class Model {
 public:
  static Model from_file(const std::string& path);  ///< MJCF, URDF or .mjb; relative to the working directory
  static Model from_xml(const std::string& xml);    ///< MJCF text; its files are relative to the working directory
  static Model from_mjmodel(const mjModel* m);      ///< copies it

  Model(const Model&) = default;  // no move: what it would leave behind could not be used
  Model& operator=(const Model&) = default;

  int nq() const;           ///< generalised coordinates
  int nv() const;           ///< degrees of freedom
  int nu() const;           ///< controls
  int na() const;           ///< activations
  int nbody() const;        ///< bodies, world included
  int njnt() const;         ///< joints
  int ngeom() const;        ///< geoms
  int nsite() const;        ///< sites
  int nsensor() const;      ///< sensors
  int nsensordata() const;  ///< sensor values
  int nkey() const;         ///< keyframes
  int npair() const;        ///< candidate geom pairs after all filters
  double timestep() const;  ///< s

  /// Ids by name; an unknown name throws Error with the closest ones.
  int body_id(const std::string& name) const;
  int joint_id(const std::string& name) const;
  int geom_id(const std::string& name) const;
  int site_id(const std::string& name) const;
  int actuator_id(const std::string& name) const;
  int sensor_id(const std::string& name) const;
  int key_id(const std::string& name) const;

  /// Names by id, empty for unnamed elements.
  const std::string& body_name(int id) const;
  const std::string& joint_name(int id) const;
  const std::string& geom_name(int id) const;
  const std::string& site_name(int id) const;
  const std::string& actuator_name(int id) const;
  const std::string& sensor_name(int id) const;
  const std::string& key_name(int id) const;

  /// Slots a world that do for bodies that stand, fall and lie in a heap; a world that needs more says so in its status.
  ///
  /// Contacts: 6, and for each moving body 0.7 times the square root of the points that its geoms could touch the ground with
  /// at once; in steps of 8, at least 8, at most 1,024. Rows: those of as many contacts of the largest dimension, of all
  /// friction losses and of all limits, in steps of 32.
  int default_nconmax() const;
  int default_njmax() const;

  const std::string& source() const;                 ///< absolute path, or "XML string" or "mjModel"
  const std::vector<std::string>& warnings() const;  ///< MuJoCo's and ours, on loading

  const mjModel* mjmodel() const;  ///< lives as long as a copy of this Model
  const FlatModel& flat() const;   ///< src/model/flat.h

 private:
  struct Impl;
  static Model make(LoadedModel loaded);
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace batchsim
