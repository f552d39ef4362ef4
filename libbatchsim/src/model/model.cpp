// batchsim::Model: a loaded mjModel with its FlatModel, and look-up of names.
#include "batchsim/model.h"

#include <algorithm>

#include "model/compile.h"
#include "model/load.h"

namespace batchsim {

struct Model::Impl {
  LoadedModel loaded;
  FlatModel flat;
};

namespace {

// edit distance
int distance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); i++) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); j++) {
      const int keep = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = keep;
    }
  }
  return row[b.size()];
}

int find(const char* kind, const std::vector<std::string>& names, const std::string& name) {
  if (!name.empty())
    for (size_t i = 0; i < names.size(); i++)
      if (names[i] == name) return static_cast<int>(i);

  std::vector<std::pair<int, const std::string*>> near;
  for (const std::string& n : names)
    if (!n.empty()) near.push_back({distance(name, n), &n});
  const size_t shown = std::min<size_t>(3, near.size());
  std::partial_sort(near.begin(), near.begin() + shown, near.end(), [](const auto& a, const auto& b) {
    return a.first < b.first || (a.first == b.first && *a.second < *b.second);
  });
  std::string message = std::string("no ") + kind + " is named \"" + name + "\"";
  for (size_t i = 0; i < shown; i++) message += (i ? ", \"" : "; closest: \"") + *near[i].second + "\"";
  if (!shown) message += std::string("; no ") + kind + " has a name";
  throw Error(Error::kInput, message);
}

const std::string& name_at(const char* kind, const std::vector<std::string>& names, int id) {
  if (id < 0 || id >= static_cast<int>(names.size()))
    throw Error(Error::kInput,
                std::string(kind) + " id " + std::to_string(id) + " is not in 0 ... " + std::to_string(names.size()) + " - 1");
  return names[id];
}

}  // namespace

Model Model::make(LoadedModel loaded) {
  FlatModel flat = compile(loaded.m.get(), loaded.source);
  for (std::string& w : batchsim::warnings(loaded.m.get())) loaded.warnings.push_back(std::move(w));
  return Model(std::make_shared<Impl>(Impl{std::move(loaded), std::move(flat)}));
}
Model Model::from_file(const std::string& path) { return make(load_file(path)); }
Model Model::from_xml(const std::string& xml) { return make(load_xml(xml)); }
Model Model::from_mjmodel(const mjModel* m) { return make(load_copy(m)); }

int Model::nq() const { return impl_->flat.nq; }
int Model::nv() const { return impl_->flat.nv; }
int Model::nu() const { return impl_->flat.nu; }
int Model::na() const { return impl_->flat.na; }
int Model::nbody() const { return impl_->flat.nbody; }
int Model::njnt() const { return impl_->flat.njnt; }
int Model::ngeom() const { return impl_->flat.ngeom; }
int Model::nsite() const { return impl_->flat.nsite; }
int Model::nsensor() const { return impl_->flat.nsensor; }
int Model::nsensordata() const { return impl_->flat.nsensordata; }
int Model::nkey() const { return impl_->flat.nkey; }
int Model::npair() const { return impl_->flat.npair; }
double Model::timestep() const { return impl_->flat.timestep[0]; }

int Model::body_id(const std::string& name) const { return find("body", impl_->flat.body_name, name); }
int Model::joint_id(const std::string& name) const { return find("joint", impl_->flat.jnt_name, name); }
int Model::geom_id(const std::string& name) const { return find("geom", impl_->flat.geom_name, name); }
int Model::site_id(const std::string& name) const { return find("site", impl_->flat.site_name, name); }
int Model::actuator_id(const std::string& name) const { return find("actuator", impl_->flat.actuator_name, name); }
int Model::sensor_id(const std::string& name) const { return find("sensor", impl_->flat.sensor_name, name); }
int Model::key_id(const std::string& name) const { return find("keyframe", impl_->flat.key_name, name); }

const std::string& Model::body_name(int id) const { return name_at("body", impl_->flat.body_name, id); }
const std::string& Model::joint_name(int id) const { return name_at("joint", impl_->flat.jnt_name, id); }
const std::string& Model::geom_name(int id) const { return name_at("geom", impl_->flat.geom_name, id); }
const std::string& Model::site_name(int id) const { return name_at("site", impl_->flat.site_name, id); }
const std::string& Model::actuator_name(int id) const { return name_at("actuator", impl_->flat.actuator_name, id); }
const std::string& Model::sensor_name(int id) const { return name_at("sensor", impl_->flat.sensor_name, id); }
const std::string& Model::key_name(int id) const { return name_at("keyframe", impl_->flat.key_name, id); }

int Model::default_nconmax() const { return batchsim::default_nconmax(impl_->flat); }
int Model::default_njmax() const { return batchsim::default_njmax(impl_->flat); }

const std::string& Model::source() const { return impl_->loaded.source; }
const std::vector<std::string>& Model::warnings() const { return impl_->loaded.warnings; }
const mjModel* Model::mjmodel() const { return impl_->loaded.m.get(); }
const FlatModel& Model::flat() const { return impl_->flat; }

}  // namespace batchsim
