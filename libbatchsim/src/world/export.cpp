// export_mjdata: one world into MuJoCo's own structure, contacts and constraint rows in MuJoCo's order.
#include <mujoco/mjxmacro.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cstring>

#include "model/flat.h"
#include "model/segment.h"
#include "world/impl.h"

namespace batchsim {
namespace {

void copy(mjtNum* to, const std::vector<double>& from) { std::copy(from.begin(), from.end(), to); }

// panels -> MuJoCo's CSR rows, which leave out the zeros of dof_simplenum DoFs
void copy_inertia(const mjModel* m, const FlatModel& f, mjtNum* to, const std::vector<double>& from) {
  for (int i = 0; i < m->nv; i++)
    for (int a = m->M_rowadr[i]; a < m->M_rowadr[i] + m->M_rownnz[i]; a++)
      to[a] = from[f.M_rowadr[i] + kQuad * f.dof_depth[m->M_colind[a]]];
}

// panels of D L with 1 / D on the diagonal -> L with D on the diagonal, and 1 / D
void copy_factor(const mjModel* m, const FlatModel& f, mjData* d, const std::vector<double>& from) {
  copy_inertia(m, f, d->qLD, from);
  for (int i = 0; i < m->nv; i++) {
    const int diagonal = m->M_rowadr[i] + m->M_rownnz[i] - 1;
    d->qLDiagInv[i] = d->qLD[diagonal];
    for (int a = m->M_rowadr[i]; a < diagonal; a++) d->qLD[a] *= d->qLDiagInv[i];
    d->qLD[diagonal] = 1 / d->qLDiagInv[i];
  }
}

template <class T>
T* take(mjData* d, size_t n) {
  const size_t start = (d->parena + alignof(T) - 1) / alignof(T) * alignof(T);
  // the stack of mjData grows from the other end of the arena
  if (start + n * sizeof(T) > size_t(d->narena - d->pstack))
    throw Error(Error::kCapacity, "the arena of mjData is too small for this world; raise size/memory in the model");
  d->parena = start + n * sizeof(T);
  return reinterpret_cast<T*>(static_cast<char*>(d->arena) + start);
}

void fill_contacts(const FlatModel& f, mjData* d, const WorldExport& e) {
  d->parena = 0;
  d->contact = take<mjContact>(d, e.ncon);
  for (int c = 0; c < e.ncon; c++) {
    mjContact& con = d->contact[c];
    std::memset(&con, 0, sizeof con);
    const int p = e.con_pair[c];
    con.dist = e.con_dist[c];
    std::copy_n(&e.con_pos[3 * c], 3, con.pos);
    std::copy_n(&e.con_frame[9 * c], 9, con.frame);
    con.includemargin = f.pair_margin[p];
    std::copy_n(&f.pair_friction[5 * p], 5, con.friction);
    std::copy_n(&f.pair_solref[2 * p], 2, con.solref);
    std::copy_n(&f.pair_solreffriction[2 * p], 2, con.solreffriction);
    std::copy_n(&f.pair_solimp[5 * p], 5, con.solimp);
    con.dim = f.pair_dim[p];
    con.geom1 = con.geom[0] = f.pair_geom1[p];
    con.geom2 = con.geom[1] = f.pair_geom2[p];
    con.flex[0] = con.flex[1] = con.elem[0] = con.elem[1] = con.vert[0] = con.vert[1] = -1;
    con.exclude = con.dist >= con.includemargin;
    con.efc_address = e.con_efc_address[c];
  }
}

void fill_rows(const mjModel* m, mjData* d, const WorldExport& e) {
  const int n = e.nefc;
  const auto ints = [&](int*& field, const std::vector<int>& from) {
    field = take<int>(d, from.size());
    std::copy(from.begin(), from.end(), field);
  };
  const auto reals = [&](mjtNum*& field, const std::vector<double>& from) {
    field = take<mjtNum>(d, from.size());
    copy(field, from);
  };
  ints(d->efc_type, e.efc_type);
  ints(d->efc_id, e.efc_id);
  ints(d->efc_state, e.efc_state);
  reals(d->efc_pos, e.efc_pos);
  reals(d->efc_margin, e.efc_margin);
  reals(d->efc_frictionloss, e.efc_frictionloss);
  reals(d->efc_diagA, e.efc_diagA);
  reals(d->efc_KBIP, e.efc_KBIP);
  reals(d->efc_D, e.efc_D);
  reals(d->efc_R, e.efc_R);
  reals(d->efc_vel, e.efc_vel);
  reals(d->efc_aref, e.efc_aref);
  reals(d->efc_force, e.efc_force);
  // dense, with the sparse pattern beside it where the model's Jacobian is sparse
  const bool sparse = m->opt.jacobian == mjJAC_SPARSE || (m->opt.jacobian == mjJAC_AUTO && m->nv >= 60);
  if (!sparse) {
    reals(d->efc_J, e.efc_J);
    return;
  }
  std::vector<int> nnz(n), adr(n), col;
  std::vector<double> J;
  for (int r = 0; r < n; r++) {
    adr[r] = static_cast<int>(col.size());
    for (int k = 0; k < m->nv; k++)
      if (const double x = e.efc_J[size_t(r) * m->nv + k]; x != 0) col.push_back(k), J.push_back(x);
    nnz[r] = static_cast<int>(col.size()) - adr[r];
  }
  d->nJ = static_cast<int>(J.size());
  ints(d->efc_J_rownnz, nnz);
  ints(d->efc_J_rowadr, adr);
  ints(d->efc_J_colind, col);
  reals(d->efc_J, J);
}

// arrays of another model's mjData have other sizes: writing into them would damage memory
void check_data(const mjModel* m, const mjData* d) {
  mjData* own = mj_makeData(m);
  if (!own) throw Error(Error::kCapacity, "not enough memory for an mjData of this model");
  const bool same = own->signature == d->signature && own->nbuffer == d->nbuffer && own->narena == d->narena;
  mj_deleteData(own);
  if (!same) throw Error(Error::kInput, "mjData is of another model; make one with mj_makeData from Model::mjmodel()");
}

}  // namespace

void Batch::export_mjdata(int world, mjData* d) const {
  if (world < 0 || world >= nworld())
    throw Error(Error::kInput, "world is " + std::to_string(world) + "; there are worlds 0 ... " + std::to_string(nworld() - 1));
  if (!d) throw Error(Error::kInput, "mjData is null; make one with mj_makeData from Model::mjmodel()");
  const mjModel* m = model().mjmodel();
  const FlatModel& f = model().flat();
  check_data(m, d);
  const WorldExport e = impl().engine->export_world(world);
  d->ncon = d->nefc = d->ne = d->nf = d->nl = 0;  // until all of it is in place

  d->time = e.time[0];
#define X(name, size, doc) copy(d->name, e.name);
  // clang-format off
  X(qpos, , ) X(qvel, , ) X(act, , ) X(qacc_warmstart, , ) X(ctrl, , ) X(qfrc_applied, , ) X(xfrc_applied, , ) X(sensordata, , )
  X(xpos, , ) X(xquat, , ) X(xmat, , ) X(xipos, , ) X(ximat, , ) X(xanchor, , ) X(xaxis, , ) X(geom_xpos, , ) X(geom_xmat, , )
  X(site_xpos, , ) X(site_xmat, , ) X(subtree_com, , ) X(cinert, , ) X(cdof, , ) X(crb, , ) X(cvel, , ) X(cdof_dot, , )
  X(actuator_length, , ) X(actuator_velocity, , ) X(actuator_force, , ) X(qfrc_bias, , ) X(qfrc_spring, , ) X(qfrc_damper, , )
  X(qfrc_passive, , ) X(qfrc_actuator, , ) X(qfrc_smooth, , ) X(qacc_smooth, , ) X(qfrc_constraint, , ) X(qacc, , )
  // clang-format on
#undef X
                          copy_inertia(m, f, d->M, e.M);
  copy_factor(m, f, d, e.qLD);
  d->solver_niter[0] = e.solver_niter;
  d->nisland = 0;
  fill_contacts(f, d, e);
  fill_rows(m, d, e);
  d->ncon = e.ncon, d->nefc = e.nefc, d->nf = e.nf, d->nl = e.nl;
}

}  // namespace batchsim
