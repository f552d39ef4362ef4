// Every tolerance that batchsim promises, each with its reason. The tests and `batchsim validate` read them here.
#pragma once

namespace batchsim::tolerances {

// ---- f64, fields of one state, against mj_forward

// sums in another order than MuJoCo's: some hundred roundings of 1e-16, enlarged by the condition of M (1e4 on the bodies in models/)
inline constexpr double kSmooth = 1e-10;
// behind the constraint solver: both sides iterate until steps are below 1e-12 rad, but M + J'DJ has a condition of up to 1e8
inline constexpr double kIterative = 1e-8;
// an error is relative to its value, but values below this share of the field's largest one are differences of large ones, or, in
// efc_KBIP, the slope of an impedance over 1 mm, which turns a distance's 1e-15 m into 9e-11
inline constexpr double kRelativeFloor = 1e-3;
// below these (SI units) a value counts as zero: it is what is left of numbers that cancel. Positions are some m, rounded by 2e-16 each, and
// a contact's distance is what is left of several (1.8e-15 m off at 1e-5 m: 1e-5 would not do); forces and accelerations at rest are
// differences of 750 N of weight, or of contact terms of 10 to 1000 m/s^2
inline constexpr double kZero = 5e-5, kZeroForce = 0.1;

// ---- f64, open loop

// rad; ten seconds of standing forget rounding, and a step differs from MuJoCo's by some 1e-13
inline constexpr double kJointF64 = 1e-9;
// a fall can be chaotic: in the rest of the worlds MuJoCo itself, started 1e-15 away, must leave kJointF64 too
inline constexpr double kJointF64Share = 0.9;
inline constexpr double kTwinStart = 1e-15;

// ---- f32, one step from MuJoCo's exact state, warm start and controls

// rad; a float pose of 1 rad is rounded by 6e-8, and float forces, accurate to 1e-6, move it by less than that in a step
inline constexpr double kJointF32 = 1e-6;
// shares of steps within kJointF32. The rest are steps in which rounding makes or breaks a contact: MuJoCo started from the rounded
// state misses them as well (99.99 % of its standing steps and 99.4 % of its heaps are within)
inline constexpr double kShareFree = 1, kShareStand = 0.999, kShareHeap = 0.99;
// bodies driven by torques move faster and touch themselves while they tumble
inline constexpr double kShareFreeMotors = 0.995, kShareStandMotors = 0.99, kShareHeapMotors = 0.99;

// ---- f32, open loop, median world

// rad at the end of 10 s free or 1.6 s standing: where no limb hits another, rounding grows to 6e-7 (simple) at most
inline constexpr double kMedianEndF32 = 2e-6;
// where MuJoCo with its state rounded to float after each step strays further than this by itself, batchsim may this many times as far
inline constexpr double kFloorOwn = 1e-6, kFloorTimes = 20;
// beyond this (rad) a run of MuJoCo with rounded states tells nothing any more
inline constexpr double kFloorUseless = 1e-3;

// ---- recorded cases

// f32: this many times the recorded noise and kJointF32, while the noise is below kFloorUseless; f64: kJointF32 while a start 1e-7 away
// strays by less than kCaseEps
inline constexpr double kCaseNoiseTimes = 20, kCaseEps = 1e-5;
// m; distances and places of contacts
inline constexpr double kCaseContact = 1e-5;

}  // namespace batchsim::tolerances
