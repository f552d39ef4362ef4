// Levels and chains of the body and DoF trees (see model/fields.h).
//
// The kernels rely on two properties of MuJoCo's numbering, checked here: bodies and DoFs are numbered depth first, so the
// descendants of DoF i are i + 1 ... i + dof_subtreenum[i], and a subtree of bodies is contiguous too.
#include <algorithm>

#include "batchsim/error.h"
#include "model/compile.h"

namespace batchsim {
namespace {

void check(bool ok, const char* what) {
  if (!ok) throw Error(Error::kInput, std::string("damaged model: ") + what);
}

// indices 0 ... n - 1 sorted by level, within a level ascending; adr gets the start of each level and the end
void sort_by_level(const std::vector<int>& level, int nlevel, std::vector<int>& order, std::vector<int>& adr) {
  adr.assign(nlevel + 1, 0);
  for (int l : level) adr[l + 1]++;
  for (int l = 0; l < nlevel; l++) adr[l + 1] += adr[l];
  order.resize(level.size());
  std::vector<int> next = adr;
  for (int i = 0; i < static_cast<int>(level.size()); i++) order[next[level[i]]++] = i;
}

// items 0 ... n - 1 grouped by owner, ascending within one; an owner below 0 has none
void group_by(const std::vector<int>& owner, int nowner, std::vector<int>& adr, std::vector<int>& items) {
  adr.assign(nowner + 1, 0);
  for (int o : owner)
    if (o >= 0) adr[o + 1]++;
  for (int o = 0; o < nowner; o++) adr[o + 1] += adr[o];
  items.resize(adr[nowner]);
  std::vector<int> next = adr;
  for (int i = 0; i < static_cast<int>(owner.size()); i++)
    if (owner[i] >= 0) items[next[owner[i]]++] = i;
}

void build_bodies(const mjModel* m, FlatModel& f) {
  const int n = f.nbody;
  f.body_level.assign(n, 0);
  f.body_lastdof.assign(n, -1);
  f.body_subtreenum.assign(n, 1);
  for (int i = 1; i < n; i++) {
    const int p = m->body_parentid[i];
    check(p >= 0 && p < i, "a body comes before its parent");
    f.body_level[i] = f.body_level[p] + 1;
    f.body_lastdof[i] = m->body_dofnum[i] ? m->body_dofadr[i] + m->body_dofnum[i] - 1 : f.body_lastdof[p];
  }
  for (int i = n - 1; i > 0; i--) f.body_subtreenum[m->body_parentid[i]] += f.body_subtreenum[i];
  for (int i = 1; i < n; i++) {
    const int p = m->body_parentid[i];
    check(i + f.body_subtreenum[i] <= p + f.body_subtreenum[p], "the bodies of a subtree are not contiguous");
  }
  f.nbodylevel = *std::max_element(f.body_level.begin(), f.body_level.end()) + 1;
  sort_by_level(f.body_level, f.nbodylevel, f.body_order, f.body_leveladr);
  std::vector<int> parent(m->body_parentid, m->body_parentid + n);
  parent[0] = -1;  // the world is its own parent
  group_by(parent, n, f.body_childadr, f.body_child);
}

void build_dofs(const mjModel* m, FlatModel& f) {
  const int n = f.nv;
  f.dof_depth.assign(n, 0);
  f.dof_subtreenum.assign(n, 0);
  f.nchain = 0;
  for (int k = 0; k < n; k++) {
    const int p = m->dof_parentid[k];
    check(p < k, "a DoF comes before its parent");
    f.dof_depth[k] = p < 0 ? 0 : f.dof_depth[p] + 1;
    f.nchain = std::max(f.nchain, f.dof_depth[k] + 1);
  }

  for (int k = n - 1; k >= 0; k--)
    if (m->dof_parentid[k] >= 0) f.dof_subtreenum[m->dof_parentid[k]] += f.dof_subtreenum[k] + 1;
  for (int k = 0; k < n; k++) {
    const int p = m->dof_parentid[k];
    check(p < 0 || k + f.dof_subtreenum[k] <= p + f.dof_subtreenum[p], "the DoFs of a subtree are not contiguous");
  }
}

// a standalone body on one free joint (mj_isFreeBody): implicitfast treats it by itself
bool is_free_body(const mjModel* m, int body) {
  if (m->body_jntnum[body] != 1 || m->jnt_type[m->body_jntadr[body]] != mjJNT_FREE) return false;
  const int dof = m->jnt_dofadr[m->body_jntadr[body]];
  return m->tree_dofnum[m->dof_treeid[dof]] == 6 && m->body_subtreemass[body] == m->body_mass[body];
}

}  // namespace

void build_tree(const mjModel* m, FlatModel& f) {
  build_bodies(m, f);
  build_dofs(m, f);
  for (int j = 0; j < f.njnt; j++) {
    if (m->jnt_limited[j]) f.limit_jntid.push_back(j);
    if (is_free_body(m, m->jnt_bodyid[j])) f.free_jntid.push_back(j);
  }
  for (int k = 0; k < f.nv; k++) {
    if (m->dof_frictionloss[k] != 0) f.fric_dofid.push_back(k);
    if (m->dof_damping[k] > 0) f.has_damping = 1;
  }
  std::vector<int> driven;
  for (int i = 0; i < f.nu; i++) driven.push_back(m->jnt_dofadr[f.actuator_jntid[i]]);
  group_by(driven, f.nv, f.dof_actadr, f.dof_actid);
  f.nlimit = static_cast<int>(f.limit_jntid.size());
  f.nfric = static_cast<int>(f.fric_dofid.size());
  f.nfreebody = static_cast<int>(f.free_jntid.size());
}

}  // namespace batchsim
