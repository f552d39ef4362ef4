#include "model/indices.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <string>

#include "batchsim/error.h"

namespace batchsim {
namespace {

[[noreturn]] void damaged(const char* field, int i, long value, const std::string& allowed) {
  throw Error(Error::kInput, "the mjModel is damaged: " + std::string(field) + "[" + std::to_string(i) + "] is " +
                                 std::to_string(value) + "; it must be " + allowed +
                                 ". Change models as mjSpec or MJCF, and compile them");
}

// lo ... hi
void in_range(const char* field, int i, long value, long lo, long hi) {
  if (value < lo || value > hi) damaged(field, i, value, hi < lo ? "absent" : std::to_string(lo) + " ... " + std::to_string(hi));
}
void equal(const char* field, int i, long value, long right) {
  if (value != right) damaged(field, i, value, std::to_string(right));
}

// a body's elements follow each other: their number and the address of the first; next: where the last body's ended
void elements(const char* num_field, const char* adr_field, int body, int num, int adr, int all, int& next) {
  in_range(num_field, body, num, 0, all - next);
  equal(adr_field, body, adr, num ? next : -1);
  next += num;
}

void check_bodies(const mjModel* m) {
  int joint = 0, dof = 0, geom = 0;
  for (int i = 0; i < m->nbody; i++) {
    in_range("body_parentid", i, m->body_parentid[i], 0, std::max(i - 1, 0));
    in_range("body_rootid", i, m->body_rootid[i], 0, i);
    in_range("body_weldid", i, m->body_weldid[i], 0, i);
    elements("body_jntnum", "body_jntadr", i, m->body_jntnum[i], m->body_jntadr[i], m->njnt, joint);
    elements("body_dofnum", "body_dofadr", i, m->body_dofnum[i], m->body_dofadr[i], m->nv, dof);
    elements("body_geomnum", "body_geomadr", i, m->body_geomnum[i], m->body_geomadr[i], m->ngeom, geom);
    for (int k = joint - m->body_jntnum[i]; k < joint; k++) equal("jnt_bodyid", k, m->jnt_bodyid[k], i);
    for (int k = dof - m->body_dofnum[i]; k < dof; k++) equal("dof_bodyid", k, m->dof_bodyid[k], i);
    for (int k = geom - m->body_geomnum[i]; k < geom; k++) equal("geom_bodyid", k, m->geom_bodyid[k], i);
  }
}

void check_joints(const mjModel* m) {
  int qpos = 0, dof = 0;
  for (int j = 0; j < m->njnt; j++) {
    in_range("jnt_type", j, m->jnt_type[j], mjJNT_FREE, mjJNT_HINGE);
    equal("jnt_qposadr", j, m->jnt_qposadr[j], qpos);
    equal("jnt_dofadr", j, m->jnt_dofadr[j], dof);
    const int nq = m->jnt_type[j] == mjJNT_FREE ? 7 : m->jnt_type[j] == mjJNT_BALL ? 4 : 1;
    const int nv = m->jnt_type[j] == mjJNT_FREE ? 6 : m->jnt_type[j] == mjJNT_BALL ? 3 : 1;
    if (qpos + nq > m->nq || dof + nv > m->nv) damaged("jnt_type", j, m->jnt_type[j], "one that nq and nv have room for");
    for (int k = dof; k < dof + nv; k++) equal("dof_jntid", k, m->dof_jntid[k], j);
    qpos += nq, dof += nv;
  }
}

void check_dofs(const mjModel* m) {
  for (int k = 0; k < m->nv; k++) {
    in_range("dof_parentid", k, m->dof_parentid[k], -1, k - 1);
    in_range("dof_treeid", k, m->dof_treeid[k], 0, m->ntree - 1);
    in_range("M_rownnz", k, m->M_rownnz[k], 1, k + 1);
    in_range("M_rowadr", k, m->M_rowadr[k], 0, m->nC - m->M_rownnz[k]);
    for (int a = m->M_rowadr[k]; a < m->M_rowadr[k] + m->M_rownnz[k]; a++) in_range("M_colind", a, m->M_colind[a], 0, k);
  }
}

int objects(const mjModel* m, int type) {
  switch (type) {
    case mjOBJ_BODY:
    case mjOBJ_XBODY: return m->nbody;
    case mjOBJ_JOINT: return m->njnt;
    case mjOBJ_DOF: return m->nv;
    case mjOBJ_GEOM: return m->ngeom;
    case mjOBJ_SITE: return m->nsite;
    default: return -1;  // not followed
  }
}

// the object and the number of values of sensors that are computed here; others are refused by name
void check_sensors(const mjModel* m) {
  int value = 0;
  for (int i = 0; i < m->nsensor; i++) {
    in_range("sensor_dim", i, m->sensor_dim[i], 0, m->nsensordata - value);
    equal("sensor_adr", i, m->sensor_adr[i], value);
    value += m->sensor_dim[i];
    const int type = m->sensor_objtype[i];
    int dim = -1, object = type;
    switch (m->sensor_type[i]) {
      case mjSENS_TOUCH: dim = 1, object = mjOBJ_SITE; break;
      case mjSENS_GYRO: dim = 3, object = mjOBJ_SITE; break;
      case mjSENS_JOINTPOS:
      case mjSENS_JOINTVEL: dim = 1, object = mjOBJ_JOINT; break;
      case mjSENS_FRAMEPOS: dim = 3; break;
      case mjSENS_FRAMEQUAT: dim = 4; break;
      case mjSENS_SUBTREECOM: dim = 3, object = mjOBJ_BODY; break;
      case mjSENS_CLOCK: dim = 1; break;
    }
    equal("sensor_objtype", i, type, object);
    if (dim >= 0) equal("sensor_dim", i, m->sensor_dim[i], dim);
    if (objects(m, type) >= 0) in_range("sensor_objid", i, m->sensor_objid[i], 0, objects(m, type) - 1);
  }
}

void check_actuators(const mjModel* m) {
  for (int i = 0; i < m->nactuator; i++) {
    const int type = m->actuator_trntype[i];
    if (type == mjTRN_JOINT || type == mjTRN_JOINTINPARENT)
      in_range("actuator_trnid", 2 * i, m->actuator_trnid[2 * i], 0, m->njnt - 1);
    if (m->actuator_actadr[i] >= 0) {
      in_range("actuator_actnum", i, m->actuator_actnum[i], 0, m->na);
      in_range("actuator_actadr", i, m->actuator_actadr[i], 0, m->na - m->actuator_actnum[i]);
    }
  }
}

}  // namespace

void check_indices(const mjModel* m) {
  const auto names = [m](const char* field, const int* adr, long n) {
    for (int i = 0; i < n; i++) in_range(field, i, adr[i], 0, m->nnames - 1);
  };
  equal("names", m->nnames - 1, m->nnames ? m->names[m->nnames - 1] : -1, 0);
  names("name_bodyadr", m->name_bodyadr, m->nbody), names("name_jntadr", m->name_jntadr, m->njnt);
  names("name_geomadr", m->name_geomadr, m->ngeom), names("name_siteadr", m->name_siteadr, m->nsite);
  names("name_actuatoradr", m->name_actuatoradr, m->nactuator), names("name_sensoradr", m->name_sensoradr, m->nsensor);
  names("name_keyadr", m->name_keyadr, m->nkey);
  check_bodies(m);
  check_joints(m);
  check_dofs(m);
  for (int i = 0; i < m->nsite; i++) in_range("site_bodyid", i, m->site_bodyid[i], 0, m->nbody - 1);
  for (int i = 0; i < m->ntree; i++) in_range("tree_dofnum", i, m->tree_dofnum[i], 0, m->nv);
  for (int i = 0; i < m->npair; i++) {
    in_range("pair_geom1", i, m->pair_geom1[i], 0, m->ngeom - 1);
    in_range("pair_geom2", i, m->pair_geom2[i], 0, m->ngeom - 1);
  }
  check_sensors(m);
  check_actuators(m);
}

}  // namespace batchsim
