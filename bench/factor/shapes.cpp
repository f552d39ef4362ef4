#include "factor/shapes.h"

#include <algorithm>

#include "batchsim/error.h"
#include "common/random.h"
#include "common/table.h"

namespace batchsim::tools {
namespace {

// a body's hinges and its children, by number; body 0 is the root
struct Body {
  int hinges = 1;
  bool free = false;
  std::vector<int> children;
};

class Tree {
 public:
  // the root: free where there are DoFs enough
  Tree(int nv, bool free) : left_(nv) {
    bodies_.push_back({});
    bodies_[0].free = free;
    left_ -= free ? 6 : 1;
  }
  int left() const { return left_; }
  int add(int parent, int hinges = 1) {
    if (!left_) return parent;
    bodies_[parent].children.push_back(int(bodies_.size()));
    bodies_.push_back({std::min(hinges, left_), false, {}});
    left_ -= bodies_.back().hinges;
    return int(bodies_.size()) - 1;
  }
  // n more in a row; returns the last
  int chain(int parent, int n) {
    for (int i = 0; i < n; i++) parent = add(parent);
    return parent;
  }
  void lengthen_root(int hinges) {
    left_ += bodies_[0].hinges, bodies_[0].hinges = std::min(hinges, left_), left_ -= bodies_[0].hinges;
  }
  void write(std::string& xml, double length, int body = 0, int nth = 0, int depth = 0) const {
    const Body& b = bodies_[body];
    xml += format("<body pos='0 %g %g'>", body ? 0.3 * length * nth : 0, body ? -length : 1);
    if (b.free) xml += "<freejoint/>";
    for (int j = 0; j < b.hinges && !b.free; j++) xml += format("<joint axis='%s'/>", axis[(depth + j) % 3]);
    xml += format("<geom fromto='0 0 0 0 0 %g'/>", -length);
    for (size_t c = 0; c < b.children.size(); c++)
      write(xml, length, b.children[c], int(c) - int(b.children.size() / 2), depth + 1);
    xml += "</body>\n";
  }

 private:
  static constexpr const char* axis[] = {"1 0 0", "0 1 0", "1 0 1"};
  std::vector<Body> bodies_;
  int left_;
};

void grow_humanoid(Tree& t) {
  const int chest = t.chain(0, 3);
  int ankle[2], wrist[2];
  for (int& a : ankle) a = t.chain(0, 6);
  for (int& w : wrist) w = t.chain(chest, 7);
  t.chain(chest, 3);
  std::vector<int> tips;
  for (int* limb : {wrist, ankle})
    for (int digit = 0; digit < 10 && t.left(); digit++) tips.push_back(t.chain(limb[digit % 2], 4));
  for (size_t i = 0; t.left(); i++) tips[i % tips.size()] = t.add(tips[i % tips.size()]);
}

}  // namespace

const std::vector<std::string>& shape_names() {
  static const std::vector<std::string> names = {"chain", "star", "humanoid", "random"};
  return names;
}

std::string shape_xml(const std::string& shape, int nv) {
  const bool free = nv >= 12 && (shape == "star" || shape == "humanoid");
  Tree tree(nv, free);
  double length = 0.1;
  if (shape == "chain") {
    // MJCF nests no deeper than 500 elements: longer chains have several hinges a body
    const int hinges = (nv + 399) / 400;
    tree.lengthen_root(hinges);
    for (int tip = 0; tree.left();) tip = tree.add(tip, hinges);
    length = 2.0 * hinges / nv;
  } else if (shape == "star") {
    while (tree.left()) tree.chain(0, 6);
  } else if (shape == "humanoid") {
    grow_humanoid(tree);
  } else if (shape == "random") {
    Random random(1, uint64_t(nv));
    for (int n = 1; tree.left(); n++) tree.add(int(random.uniform(0, n)));
  } else {
    std::string allowed;
    for (const std::string& s : shape_names()) allowed += (allowed.empty() ? "" : ", ") + s;
    throw Error(Error::kInput, "--shape " + shape + ": there is no such shape; it can be " + allowed);
  }
  std::string xml =
      "<mujoco>\n<default><joint type='hinge' armature='0.01'/>"
      "<geom type='capsule' size='0.02' density='1000' contype='0' conaffinity='0'/></default>\n<worldbody>\n";
  tree.write(xml, length);
  return xml + "</worldbody>\n</mujoco>\n";
}

}  // namespace batchsim::tools
