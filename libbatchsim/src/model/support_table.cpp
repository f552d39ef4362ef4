// The support table (see support.h). A row that becomes supported is changed here, and nowhere else.
#include <algorithm>
#include <iterator>

#include "kernels/collision/pair_func.h"
#include "model/support.h"

namespace batchsim {
namespace {

// ---- ways to find uses
template <class Test>  // elements 0 ... n - 1 that pass the test
void each(Uses& u, int objtype, mjtSize n, Test test) {
  for (int i = 0; i < n; i++)
    if (test(i)) u.add(objtype, i);
}

bool any_nonzero(const mjtNum* v, int n) {
  return std::any_of(v, v + n, [](mjtNum x) { return x != 0; });
}

template <int type>
void joints_of(Uses& u) {
  each(u, mjOBJ_JOINT, u.m->njnt, [&](int j) { return u.m->jnt_type[j] == type; });
}

template <int func>
void pairs_of(Uses& u) {
  for (int p = 0; p < u.f.npair; p++)
    if (u.f.pair_func[p] == func) u.pair(p);
}

template <int dim>
void pairs_with_dim(Uses& u) {
  for (int p = 0; p < u.f.npair; p++)
    if (u.f.pair_dim[p] == dim) u.pair(p);
}

template <int bit>
void enabled(Uses& u) {
  if (u.m->opt.enableflags & bit) u.option();
}

template <int bits>
void disabled(Uses& u) {
  if (u.m->opt.disableflags & bits) u.option();
}

template <int integrator>
void integrator_is(Uses& u) {
  if (u.m->opt.integrator == integrator) u.option();
}

template <int type>
void sensors_of(Uses& u) {
  each(u, mjOBJ_SENSOR, u.m->nsensor, [&](int i) { return u.m->sensor_type[i] == type; });
}

bool sensor_supported(int type) {
  constexpr int types[] = {mjSENS_TOUCH,    mjSENS_GYRO,      mjSENS_JOINTPOS,   mjSENS_JOINTVEL,
                           mjSENS_FRAMEPOS, mjSENS_FRAMEQUAT, mjSENS_SUBTREECOM, mjSENS_CLOCK};
  return std::find(std::begin(types), std::end(types), type) != std::end(types);
}

// a slide joint is refused by itself
bool on_scalar_joint(const mjModel* m, int actuator) {
  const int type = m->actuator_trntype[actuator];
  if (type != mjTRN_JOINT && type != mjTRN_JOINTINPARENT) return false;
  const int joint = m->jnt_type[m->actuator_trnid[2 * actuator]];
  return joint == mjJNT_HINGE || joint == mjJNT_SLIDE;
}

const char* name_of(int i, std::initializer_list<const char*> names) {
  return i >= 0 && i < static_cast<int>(names.size()) ? names.begin()[i] : "unknown";
}

// what no version of MJCF could say, but an edited mjModel or a file can
void unknown_values(Uses& u) {
  const mjModel* m = u.m;
  const auto outside = [](int x, int n) { return x < 0 || x >= n; };
  if (outside(m->opt.integrator, mjINT_DISCRETE + 1)) u.add("integrator " + std::to_string(m->opt.integrator));
  if (outside(m->opt.cone, mjCONE_ELLIPTIC + 1)) u.add("cone " + std::to_string(m->opt.cone));
  if (outside(m->opt.solver, mjSOL_NEWTON + 1)) u.add("solver " + std::to_string(m->opt.solver));
  if (outside(m->opt.jacobian, mjJAC_AUTO + 1)) u.add("jacobian " + std::to_string(m->opt.jacobian));
  if (m->opt.iterations < 0) u.add("iterations " + std::to_string(m->opt.iterations));
  const auto check = [&](int objtype, mjtSize n, const int* values, const char* what, auto known) {
    for (int i = 0; i < n; i++)
      if (!known(values[i])) u.add(objtype, i, what + (" " + std::to_string(values[i])));
  };
  const auto dim = [](int d) { return d == 1 || d == 3 || d == 4 || d == 6; };
  check(mjOBJ_JOINT, m->njnt, m->jnt_type, "type", [](int t) { return t >= 0 && t <= mjJNT_HINGE; });
  check(mjOBJ_GEOM, m->ngeom, m->geom_condim, "condim", dim);
  check(mjOBJ_PAIR, m->npair, m->pair_dim, "condim", dim);
  check(mjOBJ_GEOM, m->ngeom, m->geom_type, "type", [](int t) { return t >= 0 && t < mjNGEOMTYPES; });
}

constexpr Support yes = Support::kYes, refused = Support::kRefused, no_effect = Support::kNoEffect;

constexpr const char* kBodies = "Bodies and joints";
constexpr const char* kContacts = "Contacts";
constexpr const char* kActuators = "Actuators";
constexpr const char* kSensors = "Sensors";
constexpr const char* kOptions = "Integration, solver, options";
constexpr const char* kOther = "Other elements";

const Feature kFeatures[] = {
    {kBodies, "free joint", "freejoint", yes, "", joints_of<mjJNT_FREE>},
    {kBodies, "hinge joint", "joint type=\"hinge\"", yes, "", joints_of<mjJNT_HINGE>},
    {kBodies, "several joints a body", "", yes, "",
     [](Uses& u) { each(u, mjOBJ_BODY, u.m->nbody, [&](int i) { return u.m->body_jntnum[i] > 1; }); }},
    {kBodies, "ball joint", "joint type=\"ball\"", refused, "", joints_of<mjJNT_BALL>},
    {kBodies, "slide joint", "joint type=\"slide\"", refused, "", joints_of<mjJNT_SLIDE>},
    {kBodies, "mocap body", "body mocap", refused, "",
     [](Uses& u) { each(u, mjOBJ_BODY, u.m->nbody, [&](int i) { return u.m->body_mocapid[i] >= 0; }); }},
    {kBodies, "model without degrees of freedom", "", refused, "nothing moves in it",
     [](Uses& u) {
       if (u.m->nv == 0) u.add("the model");
     }},
    {kBodies, "joint spring", "joint stiffness, springref", yes, "hinges",
     [](Uses& u) {
       each(u, mjOBJ_JOINT, u.m->njnt, [&](int j) { return u.m->jnt_type[j] == mjJNT_HINGE && u.m->jnt_stiffness[j] != 0; });
     }},
    {kBodies, "spring of a free joint", "joint type=\"free\" stiffness", refused, "",
     [](Uses& u) {
       each(u, mjOBJ_JOINT, u.m->njnt, [&](int j) { return u.m->jnt_type[j] == mjJNT_FREE && u.m->jnt_stiffness[j] != 0; });
     }},
    {kBodies, "polynomial joint stiffness", "joint stiffness, two or three numbers", refused, "",
     [](Uses& u) {
       each(u, mjOBJ_JOINT, u.m->njnt, [&](int j) { return any_nonzero(u.m->jnt_stiffnesspoly + mjNPOLY * j, mjNPOLY); });
     }},
    {kBodies, "plastic joint spring", "joint springyield", refused, "",
     [](Uses& u) {
       each(u, mjOBJ_JOINT, u.m->njnt, [&](int j) { return u.m->jnt_springyield[j] != 0 || u.m->jnt_plasticadr[j] >= 0; });
     }},
    {kBodies, "joint damping", "joint damping", yes, "linear",
     [](Uses& u) { each(u, mjOBJ_JOINT, u.m->njnt, [&](int j) { return u.m->dof_damping[u.m->jnt_dofadr[j]] != 0; }); }},
    {kBodies, "polynomial joint damping", "joint damping, two or three numbers", refused, "",
     [](Uses& u) {
       each(u, mjOBJ_JOINT, u.m->njnt,
            [&](int j) { return any_nonzero(u.m->dof_dampingpoly + mjNPOLY * u.m->jnt_dofadr[j], mjNPOLY); });
     }},
    {kBodies, "armature", "joint armature", yes, "",
     [](Uses& u) { each(u, mjOBJ_JOINT, u.m->njnt, [&](int j) { return u.m->dof_armature[u.m->jnt_dofadr[j]] != 0; }); }},
    {kBodies, "friction loss", "joint frictionloss, solreffriction, solimpfriction", yes, "",
     [](Uses& u) { each(u, mjOBJ_JOINT, u.m->njnt, [&](int j) { return u.m->dof_frictionloss[u.m->jnt_dofadr[j]] != 0; }); }},
    {kBodies, "joint limit", "joint range, margin, solreflimit, solimplimit", yes, "hinges",
     [](Uses& u) { each(u, mjOBJ_JOINT, u.m->njnt, [&](int j) { return u.m->jnt_limited[j]; }); }},
    {kBodies, "joint actuator force limit", "joint actuatorfrcrange", yes, "",
     [](Uses& u) { each(u, mjOBJ_JOINT, u.m->njnt, [&](int j) { return u.m->jnt_actfrclimited[j]; }); }},
    {kBodies, "gravity compensation", "body gravcomp", refused, "joint actgravcomp alone has no effect",
     [](Uses& u) { each(u, mjOBJ_BODY, u.m->nbody, [&](int i) { return u.m->body_gravcomp[i] != 0; }); }},
    {kBodies, "sleep policy", "body sleep", no_effect, "sleeping itself is refused", nullptr},

    {kContacts, "plane with sphere", "", yes, "", pairs_of<kPlaneSphere>},
    {kContacts, "plane with capsule", "", yes, "", pairs_of<kPlaneCapsule>},
    {kContacts, "plane with ellipsoid", "", yes, "", pairs_of<kPlaneEllipsoid>},
    {kContacts, "sphere with sphere", "", yes, "", pairs_of<kSphereSphere>},
    {kContacts, "sphere with capsule", "", yes, "", pairs_of<kSphereCapsule>},
    {kContacts, "capsule with capsule", "", yes, "", pairs_of<kCapsuleCapsule>},
    {kContacts, "collision of other geom types", "", refused, "any candidate pair left after the filters, touching or not",
     pairs_of<-1>},
    {kContacts, "filters", "geom contype, conaffinity; exclude", yes, "with those by body, weld and parent",
     [](Uses& u) { each(u, mjOBJ_EXCLUDE, u.m->nexclude, [](int) { return true; }); }},
    {kContacts, "explicit contact pair", "pair", refused, "",
     [](Uses& u) { each(u, mjOBJ_PAIR, u.m->npair, [](int) { return true; }); }},
    {kContacts, "mixing of contact parameters", "geom priority, solmix, solref, solimp, friction", yes, "", nullptr},
    {kContacts, "margin and gap", "geom margin, gap", yes, "",
     [](Uses& u) { each(u, mjOBJ_GEOM, u.m->ngeom, [&](int g) { return u.m->geom_margin[g] != 0 || u.m->geom_gap[g] != 0; }); }},
    {kContacts, "frictionless contact", "geom condim=\"1\"", yes, "", pairs_with_dim<1>},
    {kContacts, "sliding friction", "geom condim=\"3\"", yes, "", pairs_with_dim<3>},
    {kContacts, "torsional friction", "geom condim=\"4\"", yes, "", pairs_with_dim<4>},
    {kContacts, "rolling friction", "geom condim=\"6\"", refused, "of a candidate pair", pairs_with_dim<6>},
    {kContacts, "pyramidal friction cone", "option cone=\"pyramidal\"", yes, "",
     [](Uses& u) {
       if (u.m->opt.cone == mjCONE_PYRAMIDAL) u.option();
     }},
    {kContacts, "elliptic friction cone", "option cone=\"elliptic\"", refused, "unless no candidate pair has friction",
     [](Uses& u) {
       if (u.m->opt.cone == mjCONE_ELLIPTIC && std::any_of(u.f.pair_dim.begin(), u.f.pair_dim.end(), [](int d) { return d > 1; }))
         u.option();
     }},
    {kContacts, "friction impedance ratio", "option impratio", refused, "other than 1, where a candidate pair has friction",
     [](Uses& u) {
       if (u.m->opt.impratio != 1 && std::any_of(u.f.pair_dim.begin(), u.f.pair_dim.end(), [](int d) { return d > 1; })) u.option();
     }},
    {kContacts, "surface velocity", "geom surfacevel", refused, "",
     [](Uses& u) { each(u, mjOBJ_GEOM, u.m->ngeom, [&](int g) { return any_nonzero(u.m->geom_surfacevel + 6 * g, 6); }); }},
    {kContacts, "adhesion", "geom adhesion", refused, "",
     [](Uses& u) { each(u, mjOBJ_GEOM, u.m->ngeom, [&](int g) { return u.m->geom_adhesion[g] != 0; }); }},
    {kContacts, "meshes and height fields that touch nothing", "mesh, hfield", no_effect, "visual geoms", nullptr},

    {kActuators, "joint transmission", "joint, jointinparent; gear", yes, "hinges, where both are the same",
     [](Uses& u) { each(u, mjOBJ_ACTUATOR, u.m->nactuator, [&](int i) { return on_scalar_joint(u.m, i); }); }},
    {kActuators, "other transmission", "tendon, site, body, slider-crank, refsite; joint on a free or ball joint", refused, "",
     [](Uses& u) {
       for (int i = 0; i < u.m->nactuator; i++)
         if (!on_scalar_joint(u.m, i))
           u.add(mjOBJ_ACTUATOR, i,
                 name_of(u.m->actuator_trntype[i],
                         {"free or ball joint", "ball joint in parent", "slidercrank", "tendon", "site", "body", "so3"}));
     }},
    {kActuators, "motor, position, velocity, general", "dyntype=\"none\"", yes, "gaintype fixed, affine; biastype none, affine",
     [](Uses& u) { each(u, mjOBJ_ACTUATOR, u.m->nactuator, [&](int i) { return u.m->actuator_dyntype[i] == mjDYN_NONE; }); }},
    {kActuators, "actuator with activation dynamics", "dyntype", refused, "other than none",
     [](Uses& u) {
       for (int i = 0; i < u.m->nactuator; i++)
         if (u.m->actuator_dyntype[i] != mjDYN_NONE || u.m->actuator_actnum[i] != 0)
           u.add(mjOBJ_ACTUATOR, i,
                 std::string("dyntype ") + name_of(u.m->actuator_dyntype[i], {"none", "integrator", "filter", "filterexact",
                                                                              "muscle", "dcmotor", "pid", "user"}));
     }},
    {kActuators, "other gain", "gaintype", refused, "other than fixed, affine",
     [](Uses& u) {
       for (int i = 0; i < u.m->nactuator; i++)
         if (u.m->actuator_gaintype[i] > mjGAIN_AFFINE)
           u.add(mjOBJ_ACTUATOR, i,
                 std::string("gaintype ") +
                     name_of(u.m->actuator_gaintype[i], {"fixed", "affine", "muscle", "dcmotor", "so3", "pid", "user"}));
     }},
    {kActuators, "other bias", "biastype", refused, "other than none, affine",
     [](Uses& u) {
       for (int i = 0; i < u.m->nactuator; i++)
         if (u.m->actuator_biastype[i] > mjBIAS_AFFINE)
           u.add(mjOBJ_ACTUATOR, i,
                 std::string("biastype ") +
                     name_of(u.m->actuator_biastype[i], {"none", "affine", "muscle", "dcmotor", "so3", "user"}));
     }},
    {kActuators, "several or no controls or outputs", "", refused, "",
     [](Uses& u) {
       each(u, mjOBJ_ACTUATOR, u.m->nactuator,
            [&](int i) { return u.m->actuator_ctrlnum[i] != 1 || u.m->actuator_outnum[i] != 1; });
     }},
    {kActuators, "control range", "ctrlrange", yes, "",
     [](Uses& u) { each(u, mjOBJ_ACTUATOR, u.m->nu, [&](int i) { return u.m->actuator_ctrllimited[i]; }); }},
    {kActuators, "force range", "forcerange", yes, "",
     [](Uses& u) { each(u, mjOBJ_ACTUATOR, u.m->nactuator, [&](int i) { return u.m->actuator_forcelimited[i]; }); }},
    {kActuators, "disabled groups", "option actuatorgroupdisable", yes, "",
     [](Uses& u) {
       if (u.m->opt.disableactuator) u.option();
     }},
    {kActuators, "actuator damping", "damping", refused, "",
     [](Uses& u) {
       each(u, mjOBJ_ACTUATOR, u.m->nactuator,
            [&](int i) { return u.m->actuator_damping[i] != 0 || any_nonzero(u.m->actuator_dampingpoly + mjNPOLY * i, mjNPOLY); });
     }},
    {kActuators, "actuator armature", "armature", refused, "",
     [](Uses& u) { each(u, mjOBJ_ACTUATOR, u.m->nactuator, [&](int i) { return u.m->actuator_armature[i] != 0; }); }},
    {kActuators, "control delay or history", "delay, nsample", refused, "",
     [](Uses& u) {
       each(u, mjOBJ_ACTUATOR, u.m->nactuator,
            [&](int i) { return u.m->actuator_delay[i] != 0 || u.m->actuator_history[2 * i] != 0; });
     }},
    {kSensors, "touch", "touch", yes, "", sensors_of<mjSENS_TOUCH>},
    {kSensors, "joint position", "jointpos", yes, "", sensors_of<mjSENS_JOINTPOS>},
    {kSensors, "joint velocity", "jointvel", yes, "", sensors_of<mjSENS_JOINTVEL>},
    {kSensors, "position of a frame", "framepos", yes, "body, xbody, geom, site", sensors_of<mjSENS_FRAMEPOS>},
    {kSensors, "orientation of a frame", "framequat", yes, "body, xbody, geom, site", sensors_of<mjSENS_FRAMEQUAT>},
    {kSensors, "angular velocity of a site", "gyro", yes, "", sensors_of<mjSENS_GYRO>},
    {kSensors, "centre of mass of a subtree", "subtreecom", yes, "", sensors_of<mjSENS_SUBTREECOM>},
    {kSensors, "clock", "clock", yes, "", sensors_of<mjSENS_CLOCK>},
    {kSensors, "cutoff", "cutoff", yes, "",
     [](Uses& u) { each(u, mjOBJ_SENSOR, u.m->nsensor, [&](int i) { return u.m->sensor_cutoff[i] > 0; }); }},
    {kSensors, "other sensor", "", refused, "user sensors too",
     [](Uses& u) {
       for (int i = 0; i < u.m->nsensor; i++)
         if (!sensor_supported(u.m->sensor_type[i]))
           u.add(mjOBJ_SENSOR, i,
                 name_of(u.m->sensor_type[i], {"touch",
                                               "accelerometer",
                                               "velocimeter",
                                               "gyro",
                                               "force",
                                               "torque",
                                               "magnetometer",
                                               "rangefinder",
                                               "camprojection",
                                               "jointpos",
                                               "jointvel",
                                               "tendonpos",
                                               "tendonvel",
                                               "actuatorpos",
                                               "actuatorvel",
                                               "actuatorfrc",
                                               "jointactuatorfrc",
                                               "tendonactuatorfrc",
                                               "ballquat",
                                               "ballangvel",
                                               "jointlimitpos",
                                               "jointlimitvel",
                                               "jointlimitfrc",
                                               "tendonlimitpos",
                                               "tendonlimitvel",
                                               "tendonlimitfrc",
                                               "framepos",
                                               "framequat",
                                               "framexaxis",
                                               "frameyaxis",
                                               "framezaxis",
                                               "framelinvel",
                                               "frameangvel",
                                               "framelinacc",
                                               "frameangacc",
                                               "subtreecom",
                                               "subtreelinvel",
                                               "subtreeangmom",
                                               "insidesite",
                                               "distance",
                                               "normal",
                                               "fromto",
                                               "contact",
                                               "e_potential",
                                               "e_kinetic",
                                               "clock",
                                               "tactile",
                                               "plugin",
                                               "user"}));
     }},
    {kSensors, "sensor of a camera", "framepos, framequat objtype=\"camera\"", refused, "",
     [](Uses& u) {
       each(u, mjOBJ_SENSOR, u.m->nsensor,
            [&](int i) { return sensor_supported(u.m->sensor_type[i]) && u.m->sensor_objtype[i] == mjOBJ_CAMERA; });
     }},
    {kSensors, "touch at a mesh site", "touch", refused, "",
     [](Uses& u) {
       each(u, mjOBJ_SENSOR, u.m->nsensor,
            [&](int i) { return u.m->sensor_type[i] == mjSENS_TOUCH && u.m->site_type[u.m->sensor_objid[i]] > mjGEOM_BOX; });
     }},
    {kSensors, "sensor with a reference frame", "reftype, refname", refused, "",
     [](Uses& u) {
       each(u, mjOBJ_SENSOR, u.m->nsensor,
            [&](int i) { return sensor_supported(u.m->sensor_type[i]) && u.m->sensor_refid[i] >= 0; });
     }},
    {kSensors, "sensor delay, interval or history", "delay, interval, nsample", refused, "",
     [](Uses& u) {
       each(u, mjOBJ_SENSOR, u.m->nsensor, [&](int i) {
         return u.m->sensor_delay[i] != 0 || u.m->sensor_interval[2 * i] != 0 || u.m->sensor_history[2 * i] != 0;
       });
     }},
    {kSensors, "sensor noise", "noise", no_effect, "for the user's information, in MuJoCo too", nullptr},

    {kOptions, "values that MuJoCo does not know", "", refused, "in an mjModel or an MJB: options, joint and geom types, condim",
     unknown_values},
    {kOptions, "Euler", "option integrator=\"Euler\"", yes, "with implicit joint damping (eulerdamp)", integrator_is<mjINT_EULER>},
    {kOptions, "implicitfast", "option integrator=\"implicitfast\"", yes, "", integrator_is<mjINT_IMPLICITFAST>},
    {kOptions, "integrator RK4", "option integrator=\"RK4\"", refused, "", integrator_is<mjINT_RK4>},
    {kOptions, "integrator implicit", "option integrator=\"implicit\"", refused, "", integrator_is<mjINT_IMPLICIT>},
    {kOptions, "integrator discrete", "option integrator=\"discrete\"", refused, "", integrator_is<mjINT_DISCRETE>},
    {kOptions, "Newton solver", "option solver=\"Newton\"", yes, "iterations, ls_iterations, tolerance",
     [](Uses& u) {
       if (u.m->opt.solver == mjSOL_NEWTON) u.option();
     }},
    {kOptions, "solver PGS", "option solver=\"PGS\"", refused, "",
     [](Uses& u) {
       if (u.m->opt.solver == mjSOL_PGS) u.option();
     }},
    {kOptions, "solver CG", "option solver=\"CG\"", refused, "",
     [](Uses& u) {
       if (u.m->opt.solver == mjSOL_CG) u.option();
     }},
    {kOptions, "noslip solver", "option noslip_iterations", refused, "",
     [](Uses& u) {
       if (u.m->opt.noslip_iterations > 0) u.option();
     }},
    {kOptions, "line search tolerance", "option ls_tolerance", no_effect, "the line search is exact", nullptr},
    {kOptions, "form of the Jacobian", "option jacobian", no_effect, "", nullptr},
    {kOptions, "gravity", "option gravity", yes, "", nullptr},
    {kOptions, "medium (fluid forces)", "option density, viscosity", refused, "wind and fluidshape alone have no effect",
     [](Uses& u) {
       if (u.m->opt.density != 0 || u.m->opt.viscosity != 0) u.option();
     }},
    {kOptions, "disable flags", "flag constraint, frictionloss, limit, contact, spring, damper, gravity, clampctrl, warmstart", yes,
     "also filterparent, actuation, refsafe, sensor, eulerdamp, autoreset",
     disabled<~(mjDSBL_EQUALITY | mjDSBL_MIDPHASE | mjDSBL_NATIVECCD | mjDSBL_ISLAND | mjDSBL_MULTICCD)>},
    {kOptions, "other disable flags", "flag equality, midphase, nativeccd, island, multiccd", no_effect, "",
     disabled<(mjDSBL_EQUALITY | mjDSBL_MIDPHASE | mjDSBL_NATIVECCD | mjDSBL_ISLAND | mjDSBL_MULTICCD)>},
    {kOptions, "override of contact parameters", "flag override", refused, "", enabled<mjENBL_OVERRIDE>},
    {kOptions, "energy", "flag energy", refused, "", enabled<mjENBL_ENERGY>},
    {kOptions, "forward-inverse comparison", "flag fwdinv", refused, "", enabled<mjENBL_FWDINV>},
    {kOptions, "discrete-time inverse dynamics", "flag invdiscrete", refused, "", enabled<mjENBL_INVDISCRETE>},
    {kOptions, "sleeping", "flag sleep", refused, "", enabled<mjENBL_SLEEP>},
    {kOptions, "exact diagonal of the constraint inertia", "flag diagexact", refused, "", enabled<mjENBL_DIAGEXACT>},
    {kOptions, "IPC flex contact", "flag ipc", refused, "", enabled<mjENBL_IPC>},
    {kOptions, "speculative contacts", "flag speculative", refused, "", enabled<mjENBL_SPECULATIVE>},

    {kOther, "keyframes", "key", yes, "time, qpos, qvel, ctrl",
     [](Uses& u) { each(u, mjOBJ_KEY, u.m->nkey, [](int) { return true; }); }},
    {kOther, "sites", "site", yes, "", [](Uses& u) { each(u, mjOBJ_SITE, u.m->nsite, [](int) { return true; }); }},
    {kOther, "tendon", "tendon", refused, "", [](Uses& u) { each(u, mjOBJ_TENDON, u.m->ntendon, [](int) { return true; }); }},
    {kOther, "equality constraint", "equality", refused, "active or not",
     [](Uses& u) { each(u, mjOBJ_EQUALITY, u.m->neq, [](int) { return true; }); }},
    {kOther, "flex", "flex, flexcomp", refused, "", [](Uses& u) { each(u, mjOBJ_FLEX, u.m->nflex, [](int) { return true; }); }},
    {kOther, "plugin", "plugin", refused, "", [](Uses& u) { each(u, mjOBJ_PLUGIN, u.m->nplugin, [](int) { return true; }); }},
    {kOther, "user callbacks", "", no_effect, "MuJoCo's mjcb_* functions are not called", nullptr},
    {kOther, "user data", "size nuserdata", no_effect, "not carried", nullptr},
    {kOther, "MuJoCo's memory", "size memory, njmax, nconmax", no_effect, "slots are chosen for a batch", nullptr},
    {kOther, "cameras, lights, skins, textures, materials, custom fields", "", no_effect, "", nullptr},
};

}  // namespace

std::span<const Feature> features() { return kFeatures; }

}  // namespace batchsim
