#include "reference.h"

#include <mujoco/mujoco.h>

#include <Eigen/Dense>
#include <cmath>
#include <sstream>

#include "task.h"

namespace stance {
namespace {

using batchsim::Batch;
using batchsim::Error;
using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr int kLevels = static_cast<int>(task::levels), kPhases = static_cast<int>(task::phases);
constexpr double kDegree = M_PI / 180;

double value(const Target& t, double a, double s, double b) { return t.fixed + a * (t.amplitude + t.bottom * b + t.sine * s); }

bool stands_for(const std::string& pattern, const std::string& joint) {
  if (pattern[0] != '*') return pattern == joint;
  const std::string end = pattern.substr(1);
  return joint.size() > end.size() && joint.compare(joint.size() - end.size(), end.size(), end) == 0;
}

// the model without what kinematics does not need
batchsim::Model bare(const batchsim::Model& model) {
  mjModel* m = mj_copyModel(nullptr, model.mjmodel());
  m->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_CONSTRAINT | mjDSBL_ACTUATION | mjDSBL_SENSOR;
  batchsim::Model copy = batchsim::Model::from_mjmodel(m);
  mj_deleteModel(m);
  return copy;
}

// every level in a world of its own, in double
class Solver {
 public:
  explicit Solver(const Body& body)
      : b_(body),
        stance_(body.stick ? kStickStance : kHumanStance),
        batch_(bare(body.model),
               {.nworld = kLevels, .precision = batchsim::Precision::f64, .nconmax = 1, .njmax = 1, .nthread = 1}),
        qpos_(batch_.bind<double>("qpos")),
        site_(batch_.bind<double>("site_xpos")),
        site_mat_(batch_.bind<double>("site_xmat")),
        anchor_(batch_.bind<double>("xanchor")),
        axis_(batch_.bind<double>("xaxis")),
        com_(batch_.bind<double>("subtree_com")),
        mat_(batch_.bind<double>("xmat")),
        offset_(kLevels, Vector2d::Zero()),
        q_(kLevels, std::vector<double>(body.njoint)) {
    for (int i = 0; i < b_.njoint; i++)
      for (int side = 0; side < 2; side++) {
        const std::string s = side ? "r_" : "l_";
        for (const char* joint : {"hip_flex", "hip_abd", "hip_rot", "knee", "ank_flex", "ank_ever"})
          if (b_.joint[i] == s + joint) leg_[side].push_back(i);
      }
  }

  Reference solve() {
    Reference r{b_.reference_width(), {}};
    r.row.resize(size_t(kLevels) * kPhases * r.width);
    const std::vector<int> at = Reference::columns(b_.njoint);
    first_guess();
    // the first round moves the pelvis at each phase by a part of what its centre of mass is missing; the second one keeps it there
    for (int round = 0; round < 2; round++)
      for (int p = 0; p < kPhases; p++) {
        reach(p);
        for (int l = 0; l < kLevels; l++) {
          if (round == 0)
            move_pelvis(l);
          else
            write(l, &r.row[(size_t(l) * kPhases + p) * r.width], at);
        }
      }
    differentiate(r, at);
    check(r);
    return r;
  }

 private:
  static double amplitude(int level) { return level / (task::levels - 1); }
  Vector3d foot(int l, int side) const { return Eigen::Map<const Vector3d>(&site_(l, 3 * b_.foot[side])); }

  // bent knees: a straight leg is a singular place to start from
  void first_guess() {
    for (int l = 0; l < kLevels; l++)
      for (int i = 0; i < b_.njoint; i++) {
        const double bend = (0.4 + 0.6 * amplitude(l)) * kDegree;
        if (b_.joint[i].ends_with("_hip_flex") || b_.joint[i].ends_with("_ank_flex")) q_[l][i] = 20 * bend;
        if (b_.joint[i].ends_with("_knee")) q_[l][i] = 40 * bend;
      }
  }

  // Gauss-Newton on both soles of all levels
  void reach(int p) {
    const double phase = double(p) / kPhases, s = std::sin(2 * M_PI * phase), b = (1 - std::cos(2 * M_PI * phase)) / 2;
    for (int l = 0; l < kLevels; l++) {
      for (const Target& t : kTargets)
        for (int i = 0; i < b_.njoint; i++)
          if (stands_for(t.joint, b_.joint[i])) q_[l][i] = value(t, amplitude(l), s, b) * kDegree;
    }
    residual_ = 1;
    for (int iteration = 0; iteration < 40 && residual_ >= 1e-6; iteration++) {
      residual_ = 0;
      for (int l = 0; l < kLevels; l++) place(l, phase, s, b);
      batch_.forward();
      for (int l = 0; l < kLevels; l++)
        for (int side = 0; side < 2; side++) residual_ = std::max(residual_, improve(l, side));
    }
    worst_ = std::max(worst_, residual_);
  }

  void place(int l, double phase, double s, double b) {
    const double a = amplitude(l);
    double* q = qpos_[l];
    q[0] = offset_[l][0] + a * kSwayX * s;
    q[1] = offset_[l][1] + (b_.stick ? 0 : a * kSwayY * std::sin(4 * M_PI * phase));
    q[2] = b_.model.mjmodel()->body_pos[3 * b_.pelvis + 2] - value(kPelvisDrop, a, s, b);
    const Eigen::Quaterniond turn = Eigen::AngleAxisd(a * stance_.pelvis_yaw * kDegree, Vector3d::UnitZ()) *
                                    Eigen::AngleAxisd(a * stance_.pelvis_pitch * kDegree, Vector3d::UnitY());
    q[3] = turn.w(), q[4] = turn.x(), q[5] = turn.y(), q[6] = turn.z();
    for (int i = 0; i < b_.njoint; i++) q[7 + i] = q_[l][i];
  }

  // one step of one leg; the error before it
  double improve(int l, int side) {
    const double a = amplitude(l), yaw = a * (side ? stance_.yaw_right : stance_.yaw_left) * kDegree;
    const double out = (side ? -1 : 1) * (stance_.foot_y0 + a * stance_.foot_y), ahead = (side ? -1 : 1) * a * stance_.foot_x;
    const Eigen::Matrix3d wanted = Eigen::AngleAxisd(yaw, Vector3d::UnitZ()).toRotationMatrix();
    const Eigen::Matrix3d is = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(&site_mat_(l, 9 * b_.foot[side]));
    const Vector3d sole = foot(l, side);
    Eigen::Matrix<double, 6, 1> error;
    error.head<3>() = Vector3d(ahead + kSoleAhead * std::cos(yaw), out + kSoleAhead * std::sin(yaw), 0) - sole;
    error.tail<3>() = (is.col(0).cross(wanted.col(0)) + is.col(1).cross(wanted.col(1)) + is.col(2).cross(wanted.col(2))) / 2;

    const std::vector<int>& leg = leg_[side];
    Eigen::MatrixXd J(6, leg.size());
    for (size_t k = 0; k < leg.size(); k++) {
      const Vector3d axis = Eigen::Map<const Vector3d>(&axis_(l, 3 * (leg[k] + 1)));
      const Vector3d anchor = Eigen::Map<const Vector3d>(&anchor_(l, 3 * (leg[k] + 1)));
      J.col(k) << axis.cross(sole - anchor), axis;
    }
    if (b_.stick)  // moves in its plane: x, z and the rotation about y
      for (int row : {1, 3, 5}) J.row(row).setZero(), error[row] = 0;
    const Eigen::MatrixXd H = J.transpose() * J + 1e-6 * Eigen::MatrixXd::Identity(leg.size(), leg.size());
    const Eigen::VectorXd step = H.ldlt().solve(J.transpose() * error);
    for (size_t k = 0; k < leg.size(); k++) q_[l][leg[k]] += std::clamp(step[k], -0.2, 0.2);
    return error.lpNorm<Eigen::Infinity>();
  }

  Vector2d middle(int l) const { return ((foot(l, 0) + foot(l, 1)) / 2).head<2>(); }
  Vector2d centre_of_mass(int l) const { return Eigen::Map<const Vector2d>(&com_(l, 0)); }

  void move_pelvis(int l) {
    const Vector2d error = middle(l) - Vector2d(task::com_behind, 0) - centre_of_mass(l);
    offset_[l][0] += task::com_gain * error[0];
    if (!b_.stick) offset_[l][1] += task::com_gain * error[1];
  }

  void write(int l, double* row, const std::vector<int>& at) const {
    for (int i = 0; i < b_.njoint; i++) row[i] = q_[l][i];
    for (int i = 0; i < 7; i++) row[at[2] + i] = qpos_(l, i);
    const Vector2d forward(mat_(l, 9 * b_.pelvis), mat_(l, 9 * b_.pelvis + 3));
    const Eigen::Rotation2Dd into_heading(-std::atan2(forward[1], forward[0]));
    for (int side = 0; side < 2; side++) {
      const Vector3d r = foot(l, side) - Eigen::Map<const Vector3d>(qpos_[l]);
      const Vector2d flat = into_heading * Vector2d(r.head<2>());
      for (int k = 0; k < 3; k++) row[at[6] + 3 * side + k] = k < 2 ? flat[k] : r[2];
    }
    const Vector2d balance = into_heading * (centre_of_mass(l) - middle(l));
    row[at[7]] = balance[0], row[at[7] + 1] = balance[1];
  }

  // velocities by central differences over the period
  static void differentiate(Reference& r, const std::vector<int>& at) {
    const double per_second = kPhases / task::period / 2;
    for (int l = 0; l < kLevels; l++)
      for (int p = 0; p < kPhases; p++) {
        const auto row = [&](int q) { return &r.row[(size_t(l) * kPhases + (q + kPhases) % kPhases) * r.width]; };
        double* here = row(p);
        const double *next = row(p + 1), *last = row(p - 1);
        for (int i = 0; i < at[1]; i++) here[at[1] + i] = (next[i] - last[i]) * per_second;
        for (int i = 0; i < 3; i++) here[at[4] + i] = (next[at[2] + i] - last[at[2] + i]) * per_second;
        const auto quat = [&](const double* q) { return Eigen::Quaterniond(q[at[3]], q[at[3] + 1], q[at[3] + 2], q[at[3] + 3]); };
        const Eigen::AngleAxisd turn(quat(last).conjugate() * quat(next));
        for (int i = 0; i < 3; i++) here[at[5] + i] = turn.angle() * turn.axis()[i] * per_second;
      }
  }

  void check(const Reference& r) const {
    std::ostringstream s;
    if (worst_ >= 1e-6) s << "the feet miss the floor by " << worst_ << " (m or rad)";
    for (size_t row = 0; row < r.row.size() && s.str().empty(); row += r.width)
      for (int i = 0; i < b_.njoint; i++)
        if (r.row[row + i] < b_.lower[i] - 1e-9 || r.row[row + i] > b_.upper[i] + 1e-9) {
          s << "joint '" << b_.joint[i] << "' would have to be at " << r.row[row + i] << " rad, outside its range " << b_.lower[i]
            << " ... " << b_.upper[i];
          break;
        }
    if (!s.str().empty())
      throw Error(Error::kInput, b_.model.source() + ": the reference motion does not fit this body: " + s.str() +
                                     "; its legs must have the lengths and ranges of models/simple.xml");
  }

  const Body& b_;
  const Stance stance_;
  Batch batch_;
  batchsim::View<double> qpos_, site_, site_mat_, anchor_, axis_, com_, mat_;
  std::vector<int> leg_[2];
  std::vector<Vector2d> offset_;        // of the pelvis, a level
  std::vector<std::vector<double>> q_;  // joint angles, a level
  double residual_ = 0, worst_ = 0;
};

}  // namespace

Reference make_reference(const Body& body) { return Solver(body).solve(); }

}  // namespace stance
