// mjModel -> FlatModel: copies of MuJoCo's arrays; the derived ones come from tree.cpp and pairs.cpp.
#include "model/compile.h"

#include <climits>
#include <stdexcept>

#include "batchsim/error.h"
#include "model/enums.h"
#include "model/indices.h"
#include "model/support.h"

namespace batchsim {
namespace {

// model/enums.h is MuJoCo's numbers without MuJoCo's header
static_assert(kJointFree == int(mjJNT_FREE) && kJointBall == int(mjJNT_BALL) && kJointSlide == int(mjJNT_SLIDE) &&
              kJointHinge == int(mjJNT_HINGE));
static_assert(kGeomPlane == int(mjGEOM_PLANE) && kGeomSphere == int(mjGEOM_SPHERE) && kGeomCapsule == int(mjGEOM_CAPSULE) &&
              kGeomEllipsoid == int(mjGEOM_ELLIPSOID) && kGeomCylinder == int(mjGEOM_CYLINDER) && kGeomBox == int(mjGEOM_BOX));
static_assert(kObjBody == int(mjOBJ_BODY) && kObjXBody == int(mjOBJ_XBODY) && kObjGeom == int(mjOBJ_GEOM) &&
              kObjSite == int(mjOBJ_SITE));
static_assert(kEuler == int(mjINT_EULER) && kImplicitfast == int(mjINT_IMPLICITFAST));
static_assert(kGainFixed == int(mjGAIN_FIXED) && kGainAffine == int(mjGAIN_AFFINE) && kBiasNone == int(mjBIAS_NONE) &&
              kBiasAffine == int(mjBIAS_AFFINE));
static_assert(kSensorTouch == int(mjSENS_TOUCH) && kSensorGyro == int(mjSENS_GYRO) && kSensorJointpos == int(mjSENS_JOINTPOS) &&
              kSensorJointvel == int(mjSENS_JOINTVEL) && kSensorFramepos == int(mjSENS_FRAMEPOS) &&
              kSensorFramequat == int(mjSENS_FRAMEQUAT) && kSensorSubtreecom == int(mjSENS_SUBTREECOM) &&
              kSensorClock == int(mjSENS_CLOCK));
static_assert(kDisableConstraint == int(mjDSBL_CONSTRAINT) && kDisableFrictionloss == int(mjDSBL_FRICTIONLOSS) &&
              kDisableLimit == int(mjDSBL_LIMIT) && kDisableContact == int(mjDSBL_CONTACT) &&
              kDisableSpring == int(mjDSBL_SPRING) && kDisableDamper == int(mjDSBL_DAMPER) &&
              kDisableGravity == int(mjDSBL_GRAVITY) && kDisableClampctrl == int(mjDSBL_CLAMPCTRL) &&
              kDisableWarmstart == int(mjDSBL_WARMSTART) && kDisableActuation == int(mjDSBL_ACTUATION) &&
              kDisableRefsafe == int(mjDSBL_REFSAFE) && kDisableSensor == int(mjDSBL_SENSOR) &&
              kDisableEulerdamp == int(mjDSBL_EULERDAMP) && kDisableAutoreset == int(mjDSBL_AUTORESET));

void copy_sizes(const mjModel* m, FlatModel& f) {
  auto size = [](const char* name, mjtSize n) {
    if (n > INT_MAX / 16) throw Error(Error::kCapacity, std::string(name) + " = " + std::to_string(n) + " is too large");
    return static_cast<int>(n);
  };
#define X(name) f.name = size(#name, m->name);
  X(nq)
  X(nv)
  X(nu)
  X(na)
  X(nbody)
  X(njnt)
  X(ngeom)
  X(nsite)
  X(nsensor)
  X(nsensordata)
  X(nkey)
#undef X
  size("nkey * nq", m->nkey * m->nq);
  // body pairs are numbered body1 << 16 + body2, in MuJoCo too
  if (f.nbody > 0xffff) throw Error(Error::kCapacity, std::to_string(f.nbody) + " bodies; MuJoCo's collisions take 65,535");
}

// clang-format off
void copy_arrays(const mjModel* m, FlatModel& f) {
#define X(name, n) f.name.assign(m->name, m->name + (n));
  X(qpos0, f.nq)
  X(qpos_spring, f.nq)

  X(body_parentid, f.nbody)
  X(body_rootid, f.nbody)
  X(body_weldid, f.nbody)
  X(body_jntnum, f.nbody)
  X(body_jntadr, f.nbody)
  X(body_dofnum, f.nbody)
  X(body_dofadr, f.nbody)
  X(body_pos, 3 * f.nbody)
  X(body_quat, 4 * f.nbody)
  X(body_ipos, 3 * f.nbody)
  X(body_iquat, 4 * f.nbody)
  X(body_mass, f.nbody)
  X(body_subtreemass, f.nbody)
  X(body_inertia, 3 * f.nbody)
  X(body_invweight0, 2 * f.nbody)

  X(jnt_type, f.njnt)
  X(jnt_qposadr, f.njnt)
  X(jnt_dofadr, f.njnt)
  X(jnt_bodyid, f.njnt)
  X(jnt_limited, f.njnt)
  X(jnt_actfrclimited, f.njnt)
  X(jnt_pos, 3 * f.njnt)
  X(jnt_axis, 3 * f.njnt)
  X(jnt_stiffness, f.njnt)
  X(jnt_range, 2 * f.njnt)
  X(jnt_margin, f.njnt)
  X(jnt_actfrcrange, 2 * f.njnt)
  X(jnt_solref, 2 * f.njnt)
  X(jnt_solimp, 5 * f.njnt)

  X(dof_bodyid, f.nv)
  X(dof_jntid, f.nv)
  X(dof_parentid, f.nv)
  X(dof_armature, f.nv)
  X(dof_damping, f.nv)
  X(dof_frictionloss, f.nv)
  X(dof_solref, 2 * f.nv)
  X(dof_solimp, 5 * f.nv)
  X(dof_invweight0, f.nv)

  X(geom_type, f.ngeom)
  X(geom_bodyid, f.ngeom)
  X(geom_size, 3 * f.ngeom)
  X(geom_pos, 3 * f.ngeom)
  X(geom_quat, 4 * f.ngeom)
  X(geom_rbound, f.ngeom)

  X(site_bodyid, f.nsite)
  X(site_type, f.nsite)
  X(site_pos, 3 * f.nsite)
  X(site_quat, 4 * f.nsite)
  X(site_size, 3 * f.nsite)

  X(actuator_ctrllimited, f.nu)
  X(actuator_forcelimited, f.nu)
  X(actuator_biastype, f.nu)
  X(actuator_gaintype, f.nu)
  X(actuator_ctrlrange, 2 * f.nu)
  X(actuator_forcerange, 2 * f.nu)

  X(sensor_type, f.nsensor)
  X(sensor_objtype, f.nsensor)
  X(sensor_objid, f.nsensor)
  X(sensor_reftype, f.nsensor)
  X(sensor_refid, f.nsensor)
  X(sensor_adr, f.nsensor)
  X(sensor_dim, f.nsensor)
  X(sensor_cutoff, f.nsensor)

  X(key_time, f.nkey)
  X(key_qpos, f.nkey * f.nq)
  X(key_qvel, f.nkey * f.nv)
  X(key_ctrl, f.nkey * f.nu)
#undef X
}
// clang-format on

// a kernel must never read past an array that somebody forgot to fill
void check_filled(const FlatModel& f) {
  const int one = 1, nbody1 = f.nbody + 1, nv1 = f.nv + 1, nbodylevel1 = f.nbodylevel + 1, nchild = f.nbody - 1;
  const int nbody = f.nbody, njnt = f.njnt, ngeom = f.ngeom, nsite = f.nsite, nu = f.nu, nq = f.nq, nv = f.nv, nkey = f.nkey;
  const int ncol = f.ncol, ncolumn = f.ncolumn, nseg = f.nseg, nbackstep = f.nbackstep, ntask = f.ntask, nheight1 = f.nheight + 1,
            nseglevel1 = f.nseglevel + 1;
  const int npair = f.npair, nfric = f.nfric, nlimit = f.nlimit, nfreebody = f.nfreebody, nsensor = f.nsensor;
#define X(name, rows, cols, doc) \
  if (f.name.size() != size_t(rows) * size_t(cols)) throw std::logic_error("model array " #name " is not filled");
  BS_MODEL_INTS(X)
  BS_MODEL_REALS(X)
#undef X
}

void copy_options(const mjModel* m, FlatModel& f) {
  f.integrator = m->opt.integrator;
  f.disableflags = m->opt.disableflags;
  f.iterations = m->opt.iterations;
  f.ls_iterations = m->opt.ls_iterations;
  f.timestep = {m->opt.timestep};
  f.gravity.assign(m->opt.gravity, m->opt.gravity + 3);
  f.tolerance = {m->opt.tolerance};
  f.meaninertia = {m->stat.meaninertia};
}

// one control and one output an actuator: support.cpp has made sure of it
void copy_actuators(const mjModel* m, FlatModel& f) {
  for (int i = 0; i < f.nu; i++) {
    f.actuator_jntid.push_back(m->actuator_trnid[2 * i]);
    const int group = m->actuator_group[i];  // mj_actuatorDisabled
    f.actuator_disabled.push_back(group >= 0 && group <= 30 && (m->opt.disableactuator & (1 << group)));
    f.actuator_gear.push_back(m->actuator_gear[6 * i]);
    for (int k = 0; k < 3; k++) {
      f.actuator_gainprm.push_back(m->actuator_gainprm[mjNGAIN * i + k]);
      f.actuator_biasprm.push_back(m->actuator_biasprm[mjNBIAS * i + k]);
    }
  }
}

void copy_names(const mjModel* m, FlatModel& f) {
  auto copy = [m](std::vector<std::string>& names, int n, const int* adr) {
    for (int i = 0; i < n; i++) names.emplace_back(m->names + adr[i]);
  };
  copy(f.body_name, f.nbody, m->name_bodyadr);
  copy(f.jnt_name, f.njnt, m->name_jntadr);
  copy(f.geom_name, f.ngeom, m->name_geomadr);
  copy(f.site_name, f.nsite, m->name_siteadr);
  copy(f.actuator_name, f.nu, m->name_actuatoradr);
  copy(f.sensor_name, f.nsensor, m->name_sensoradr);
  copy(f.key_name, f.nkey, m->name_keyadr);
}

}  // namespace

FlatModel compile(const mjModel* m, const std::string& source) {
  FlatModel f;
  check_indices(m);
  copy_sizes(m, f);
  build_pairs(m, f);
  check_support(m, f, source);
  copy_options(m, f);
  copy_arrays(m, f);
  copy_actuators(m, f);
  copy_names(m, f);
  build_tree(m, f);
  build_segments(f);
  check_filled(f);
  return f;
}

std::string element(const mjModel* m, int objtype, int id) {
  const char* type = mju_type2Str(objtype);
  const char* name = mj_id2name(m, objtype, id);
  const std::string kind = type ? type : "element";
  if (name && *name) return kind + " \"" + name + "\"";
  const int body = objtype == mjOBJ_JOINT ? m->jnt_bodyid[id] : objtype == mjOBJ_GEOM ? m->geom_bodyid[id] : 0;
  const char* body_name = m->names + m->name_bodyadr[body];
  return kind + " " + std::to_string(id) + (body && *body_name ? std::string(" of body \"") + body_name + "\"" : "");
}

std::vector<std::string> warnings(const mjModel* m) {
  std::vector<std::string> r;
  for (int j = 0; j < m->njnt; j++)
    if (!m->jnt_limited[j] && m->jnt_range[2 * j] > m->jnt_range[2 * j + 1])
      r.push_back(element(m, mjOBJ_JOINT, j) + ": its range is reversed, which MuJoCo takes for no limit");
  return r;
}

}  // namespace batchsim
