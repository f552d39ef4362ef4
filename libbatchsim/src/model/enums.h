// MuJoCo's enumerations as far as stages need them, so that device code includes no MuJoCo header; compile.cpp asserts the values.
#pragma once

namespace batchsim {

enum Joint { kJointFree = 0, kJointBall = 1, kJointSlide = 2, kJointHinge = 3 };
enum Geom {
  kGeomPlane = 0,
  kGeomHfield = 1,
  kGeomSphere = 2,
  kGeomCapsule = 3,
  kGeomEllipsoid = 4,
  kGeomCylinder = 5,
  kGeomBox = 6,
  kGeomMesh = 7
};
enum Object { kObjBody = 1, kObjXBody = 2, kObjGeom = 5, kObjSite = 6 };
enum Integrator { kEuler = 0, kImplicitfast = 3 };
enum Gain { kGainFixed = 0, kGainAffine = 1 };
enum Sensor {
  kSensorTouch = 0,
  kSensorGyro = 3,
  kSensorJointpos = 9,
  kSensorJointvel = 10,
  kSensorFramepos = 26,
  kSensorFramequat = 27,
  kSensorSubtreecom = 35,
  kSensorClock = 45,
};
enum Bias { kBiasNone = 0, kBiasAffine = 1 };

enum Disable {
  kDisableConstraint = 1 << 0,
  kDisableFrictionloss = 1 << 2,
  kDisableLimit = 1 << 3,
  kDisableContact = 1 << 4,
  kDisableSpring = 1 << 5,
  kDisableDamper = 1 << 6,
  kDisableGravity = 1 << 7,
  kDisableClampctrl = 1 << 8,
  kDisableWarmstart = 1 << 9,
  kDisableActuation = 1 << 11,
  kDisableRefsafe = 1 << 12,
  kDisableSensor = 1 << 13,
  kDisableEulerdamp = 1 << 15,
  kDisableAutoreset = 1 << 16,
};

}  // namespace batchsim
