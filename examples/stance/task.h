// The stance task in numbers. docs/stance.md explains them; a test compares the two.
#pragma once

#include <array>

namespace stance {

// X(name, value, unit, what it is)
#define STANCE_NUMBERS(X)                                                                                            \
  X(control_step, 0.02, "s", "a control step")                                                                       \
  X(substeps, 4, "", "timesteps a control step")                                                                     \
  X(episode_steps, 500, "", "control steps an episode")                                                              \
  X(period, 0.8, "s", "period of the bounce")                                                                        \
  X(levels, 11, "", "levels of amplitude, 0 ... 1")                                                                  \
  X(phases, 64, "", "samples of the reference a period")                                                             \
  X(com_behind, 0.02, "m", "where the pelvis brings the reference's centre of mass, behind the middle of the soles") \
  X(com_gain, 0.3, "", "share of what it misses by which the pelvis moves at each phase of the first round")         \
  X(action_clip, 3, "", "actions are cut to +- this")                                                                \
  X(scale_leg, 0.35, "rad", "action scale: hip, knee, ankle flexion, waist")                                         \
  X(scale_small, 0.25, "rad", "action scale: ankle eversion, lumbar")                                                \
  X(reset_height, 0.002, "m", "above the reference's pelvis at a reset")                                             \
  X(reset_angle, 0.03, "rad", "standard deviation of joint angles at a reset")                                       \
  X(reset_velocity, 0.05, "m/s, rad/s", "standard deviation of all velocities at a reset")                           \
  X(reward_scale, 0.1, "", "the sum of the terms times this")                                                        \
  X(weight_balance, 0.20, "", "reward: extrapolated centre of mass")                                                 \
  X(weight_pose, 0.25, "", "reward: joint angles")                                                                   \
  X(weight_velocity, 0.05, "", "reward: joint velocities")                                                           \
  X(weight_height, 0.15, "", "reward: pelvis height")                                                                \
  X(weight_orientation, 0.15, "", "reward: pelvis orientation")                                                      \
  X(weight_soles, 0.10, "", "reward: soles relative to the pelvis")                                                  \
  X(weight_drift, 0.05, "", "reward: pelvis x, y")                                                                   \
  X(weight_pelvis_velocity, 0.05, "", "reward: pelvis velocity")                                                     \
  X(weight_action, -0.01, "", "reward: mean square of the action")                                                   \
  X(weight_action_change, -0.01, "", "reward: mean square of its change")                                            \
  X(width_balance, 0.10, "m", "reward: width of that term")                                                          \
  X(fall_time, 0.31, "s", "sqrt(height / gravity): weight of the centre of mass's velocity")                         \
  X(sharpness_pose, 12, "1/rad^2", "reward: sharpness of that term")                                                 \
  X(sharpness_velocity, 0.1, "s^2/rad^2", "reward: sharpness of that term")                                          \
  X(width_height, 0.05, "m", "reward: width of that term")                                                           \
  X(width_orientation, 0.3, "rad", "reward: width of that term")                                                     \
  X(width_soles, 0.10, "m", "reward: width of that term")                                                            \
  X(width_drift, 0.30, "m", "reward: width of that term")                                                            \
  X(width_pelvis_velocity, 0.5, "m/s", "reward: width of that term")                                                 \
  X(joint_weight_main, 1.0, "", "weight of hips, knees, ankles, lumbar, waist in pose and velocity")                 \
  X(joint_weight_other, 0.5, "", "of other joints")                                                                  \
  X(joint_weight_finger, 0.15, "", "of fingers")                                                                     \
  X(fall_reward, -1, "", "reward of the step of a fall")                                                             \
  X(fall_height, 0.60, "m", "pelvis lower than this: a fall")                                                        \
  X(fall_up, 0.5, "", "upward component of pelvis or thorax axis less than this: a fall")                            \
  X(shove_force_stick, 100, "N", "largest shove, stick")                                                             \
  X(shove_force, 120, "N", "largest shove, other bodies")                                                            \
  X(shove_steps, 10, "", "control steps that a shove lasts")                                                         \
  X(shove_base, 0.4, "", "share of the force at amplitude 0")                                                        \
  X(shove_least, 0.5, "", "a shove is U[this, 1] of the force")                                                      \
  X(shove_first_min, 50, "", "control steps from a reset to the first shove, least")                                 \
  X(shove_first_max, 150, "", "and most (exclusive)")                                                                \
  X(shove_pause_min, 75, "", "control steps from the end of a shove to the next, least")                             \
  X(shove_pause_max, 175, "", "and most (exclusive)")                                                                \
  X(raise_fall, 0.10, "", "largest share of falls to raise the level")                                               \
  X(solved_fall, 0.05, "", "largest share of falls at the last level to be solved")                                  \
  X(solved_length, 9.5, "s", "least mean length of an episode to be solved")                                         \
  X(eval_worlds, 256, "", "episodes of an evaluation")                                                               \
  X(eval_seed, 12345, "", "seed of an evaluation")

namespace task {
#define X(name, value, unit, doc) inline constexpr double name = value;
STANCE_NUMBERS(X)
#undef X
}  // namespace task

/// A target of the reference motion: fixed + a (amplitude + bottom b + sine s), a the amplitude in [0, 1], s = sin 2 pi phase,
/// b = (1 - cos 2 pi phase) / 2; degrees for joints, in metres for the pelvis.
struct Target {
  const char* joint;
  double fixed, amplitude, bottom, sine;
};

inline constexpr Target kPelvisDrop = {"", 0.012, 0.065, 0.050, 0};
inline constexpr double kSwayX = 0.020;  ///< m, times a s
inline constexpr double kSwayY = 0.006;  ///< m, times a sin 4 pi phase; not for the stick

/// Where feet and pelvis are at a = 1. Feet: ankle from the middle of the stance; y outwards, all times a but y0.
struct Stance {
  double foot_x, foot_y0, foot_y, yaw_left, yaw_right;  // m, m, m, degrees
  double pelvis_yaw, pelvis_pitch;                      // degrees
};
inline constexpr Stance kStickStance = {0.17, 0.14, 0, 0, 0, 0, 2};
inline constexpr Stance kHumanStance = {0.17, 0.10, 0.05, -8, -38, -24, 3};
inline constexpr double kSoleAhead = 0.05;  ///< m from the ankle to the foot's site, along the foot

/// Joints that follow the motion. A name that starts with "*_" stands for both sides and, if it ends in mcp, pip or dip, for all fingers.
inline constexpr Target kTargets[] = {
    {"waist", 0, 8, 4, 0},       {"lum_flex", 0, 8, 3, 0},    {"lum_lat", 0, 0, 0, 2},     {"lum_rot", 0, 6, 0, 3},
    {"tho_flex", 0, 6, 2, 0},    {"tho_rot", 0, 8, 0, 3},     {"neck_flex", 0, -8, -3, 0}, {"neck_rot", 0, 10, 0, -5},
    {"l_sho_flex", 0, 58, 6, 0}, {"l_sho_abd", 4, 14, 0, 0},  {"l_sho_rot", 0, 25, 0, 0},  {"l_elbow", 8, 92, 8, 0},
    {"l_pron", 0, 40, 0, 0},     {"l_wri_flex", 0, 5, 0, 0},  {"r_sho_flex", 0, 34, 5, 0}, {"r_sho_abd", 4, 12, 0, 0},
    {"r_sho_rot", 0, 32, 0, 0},  {"r_elbow", 8, 112, 6, 0},   {"r_pron", 0, 40, 0, 0},     {"r_wri_flex", 0, 5, 0, 0},
    {"l_clav_elev", 0, 6, 0, 0}, {"r_clav_elev", 0, 6, 0, 0}, {"l_clav_prot", 0, 8, 0, 0}, {"r_clav_prot", 0, 3, 0, 0},
    {"*_mcp", 15, 60, 0, 0},     {"*_pip", 20, 70, 0, 0},     {"*_dip", 12, 45, 0, 0},     {"*_cmc_flex", 0, 25, 0, 0},
    {"*_cmc_abd", 10, 0, 0, 0},  {"*_tmp", 10, 25, 0, 0},     {"*_tip", 10, 35, 0, 0},
};

}  // namespace stance
