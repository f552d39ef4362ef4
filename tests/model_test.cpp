// The compiled model: its tree, its candidate pairs against MuJoCo's contacts, names, slots, and the page of features.
#include <mujoco/mujoco.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>

#include "batchsim/model.h"
#include "catch.h"
#include "error_of.h"
#include "model/flat.h"
#include "model/segment.h"
#include "model/support.h"
#include "world/fields_page.h"

using namespace batchsim;

namespace {

std::string body(const char* name) { return std::string(BATCHSIM_MODELS) + "/" + name + ".xml"; }

// bodies of many geoms of mixed types, all kinds of mixing, excludes that are not in order
const char* kMixed = R"(
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="a" pos="0 0 .15"><freejoint/>
      <geom name="a0" type="capsule" size=".1 .1" solmix="0" condim="1" margin=".01"/>
      <geom name="a1" type="sphere" size=".15" pos=".05 0 0" priority="1" solref="-2000 -50" friction=".3 .02 .001"/>
      <geom name="a2" type="capsule" size=".1 .1" pos="0 .05 0" solmix="3" solimp=".8 .9 .01 .4 3" gap=".2"/></body>
    <body name="b" pos=".1 0 .17"><freejoint/>
      <geom name="b0" type="sphere" size=".15" solref="-1000 -80" condim="4" friction=".5 .03 .002"/>
      <geom name="b1" type="capsule" size=".1 .1" pos="0 .02 0" solmix="0" solref=".05 .7"/>
      <body name="b_child" pos=".3 0 0"><joint axis="0 0 1"/><joint axis="0 1 0" frictionloss=".1"/>
        <geom name="b2" type="sphere" size=".1" condim="1" margin=".3" gap=".1"/>
        <body name="b_twig" pos=".2 0 0"><geom name="b3" type="sphere" size=".1"/></body></body></body>
    <body name="c" pos=".1 .1 .17"><freejoint/><geom name="c0" type="capsule" size=".15 .1" priority="1" solmix="2"/></body>
    <body name="d" pos=".15 .1 .17"><freejoint/><geom name="d0" type="sphere" size=".15" friction="1e-9 0 0"/></body>
    <body name="e" pos="-.3 0 .2"><freejoint/><geom name="e0" type="sphere" size=".2" contype="2" conaffinity="0"/></body>
    <body name="post" pos="-.3 .3 0"><geom name="p0" type="capsule" size=".1 .3" conaffinity="2"/></body>
  </worldbody>
  <contact><exclude body1="d" body2="b"/><exclude body1="d" body2="a"/></contact>
</mujoco>)";

struct DeleteData {
  void operator()(mjData* d) const { mj_deleteData(d); }
};
using Data = std::unique_ptr<mjData, DeleteData>;

// segments: chains of up to four, panels side by side by height, every column of every sum in some task
void check_segments(const FlatModel& f) {
  REQUIRE(f.nM == 4 * f.ncol);
  CHECK(std::accumulate(f.seg_size.begin(), f.seg_size.end(), 0) == f.nv);
  CHECK(std::accumulate(f.seg_order.begin(), f.seg_order.end(), 0) == f.nseg * (f.nseg - 1) / 2);
  std::vector<int> owner(f.nM, 0);  // entries of M are rows' own
  const auto segment = [&](int s) {
    const int* p = &f.segment[4 * s];
    return Segment{p[0], p[1], p[2], p[3]};
  };
  std::vector<int> height(f.nseg);
  for (int h = 0; h < f.nheight; h++)
    for (int q = f.height_segadr[h]; q < f.height_segadr[h + 1]; q++) height[f.seg_order[q]] = h;
  for (int s = 0; s < f.nseg; s++) {
    const Segment g = segment(s);
    const int dof = f.seg_dof[s], size = f.seg_size[s], depth = f.dof_depth[dof];
    REQUIRE((size >= 1 && size <= 4 && g.size() == size && g.depth() == depth));
    for (int t = 0; t < size; t++) {
      REQUIRE(f.dof_seg[dof + t] == s);
      REQUIRE(f.dof_depth[dof + t] == depth + t);
      REQUIRE(f.M_rowadr[dof + t] == 4 * (g.column + 1) + t);
      REQUIRE(f.M_coladr[dof + t] == g.column + 1);
      for (int a = 0; a <= depth + t; a++) owner[f.M_rowadr[dof + t] + 4 * a]++;
    }
    // descendants are lower and follow it
    REQUIRE(g.below() == f.dof_seg[dof + f.dof_subtreenum[dof]] - s);
    for (int k = s + 1; k <= s + g.below(); k++) REQUIRE(height[k] < height[s]);
    for (int c = g.column; c <= g.column + depth + 4; c++) REQUIRE(f.col_seg[c] == s);
    REQUIRE((f.dof_rhs[dof] == 4 * g.column && f.dof_rhs[dof + size - 1] == 4 * g.column + size - 1));
  }
  CHECK(*std::max_element(owner.begin(), owner.end()) == 1);

  // a task is of the height it is listed in; every column takes each of its descendants once, in chunks of their own
  const auto four = [](const std::vector<int>& v, int i) { return std::array{v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]}; };
  std::map<std::pair<int, int>, int> gathered;  // (column, descendant)
  std::map<std::pair<int, int>, int> written;   // (height, partial sum)
  std::map<int, int> listed;
  REQUIRE(f.height[4 * f.nheight + 2] == f.ncolumn);
  for (int h = 0; h < f.nheight; h++) {
    const auto at = four(f.height, h), next = four(f.height, h + 1);
    for (int q = at[2]; q < next[2]; q++) {
      const ColumnPlace place{f.column[2 * q], f.column[2 * q + 1]};
      const int s = f.col_seg[place.column];
      REQUIRE((height[s] == h && place.segment() == s && place.x() == place.column - segment(s).triangle));
      REQUIRE(place.rhs() == (place.column == segment(s).column));
      listed[place.column]++;
    }
    for (int q = at[0]; q < next[0]; q++) {
      const auto [a, b, c, d] = four(f.task, q);
      const GatherTask task{a, b, c, d};
      REQUIRE((task.column() == 0) == (q >= at[1]));
      REQUIRE((task.second() == 0 || task.paired()));
      for (int i = 0; i < (task.second() ? 2 : 1); i++) {
        // whose task it is shows in its target, or in its first descendant's ancestor of this height
        int s = task.first();
        for (int k = f.seg_dof[s]; height[s] != h; s = f.dof_seg[k]) k = f.dof_parentid[k];
        const Segment g = segment(s);
        const int column = task.column() + i * task.second(), target = task.target + i * task.second() * task.nchunk();
        REQUIRE((task.triangle() == g.depth() + 1 && task.size() == g.size() && task.nchunk() == g.nchunk()));
        REQUIRE(column <= g.depth() + g.size());
        if (g.nchunk() == 1)
          REQUIRE(target == g.column + column);
        else
          REQUIRE((target >= g.part() + column * g.nchunk() && target < g.part() + (column + 1) * g.nchunk() && at[3] &&
                   target < f.npart && ++written[{h, target}] == 1));
        for (int e = 0; e < task.count(); e++) gathered[{g.column + column, task.first() + e}]++;
      }
    }
  }
  for (int s = 0; s < f.nseg; s++) {
    const Segment g = segment(s);
    for (int c = g.column; c <= g.triangle + 3; c++) {
      const bool padding = c >= g.triangle + g.size();
      REQUIRE(listed[c] == !padding);
      for (int k = 0; k < f.nseg; k++) REQUIRE(gathered[{c, k}] == (!padding && k > s && k <= s + g.below()));
    }
  }

  // on the way back each segment meets each of its ancestors once, the nearest last
  std::map<int, std::vector<int>> met;
  for (int level = 0; level < f.nseglevel; level++)
    for (int q = f.level_stepadr[level]; q < f.level_stepadr[level + 1]; q++) {
      const auto [rhs, factor, ancestor_rhs, triangle] = four(f.back_step, q);
      const Segment g = segment(f.col_seg[rhs]), k = segment(f.col_seg[ancestor_rhs]);
      REQUIRE((rhs == g.column && (triangle == -1 || triangle == g.triangle)));
      if (level > 0) {
        REQUIRE((ancestor_rhs == k.column && factor == g.column + k.depth() + 1));
        met[f.col_seg[rhs]].push_back(f.col_seg[ancestor_rhs]);
      }
      REQUIRE((triangle >= 0) == (g.depth() == (level ? k.depth() + k.size() : 0)));
    }
  for (int s = 0; s < f.nseg; s++) {
    std::vector<int> chain;
    for (int k = f.dof_parentid[f.seg_dof[s]]; k >= 0; k = f.dof_parentid[f.seg_dof[f.dof_seg[k]]])
      chain.insert(chain.begin(), f.dof_seg[k]);
    REQUIRE(met[s] == chain);
  }
}

void check_tree(const FlatModel& f) {
  for (int k = 0; k < f.nv; k++) {
    const int p = f.dof_parentid[k];
    REQUIRE(f.dof_depth[k] == (p < 0 ? 0 : f.dof_depth[p] + 1));
    for (int j = k; j >= 0; j = f.dof_parentid[j]) {  // the chain up from k
      REQUIRE(f.M_colind[f.M_coladr[k] + f.dof_depth[j]] == j);
      REQUIRE((j <= k && k <= j + f.dof_subtreenum[j]));
    }
  }
  check_segments(f);

  REQUIRE(static_cast<int>(f.body_leveladr.size()) == f.nbodylevel + 1);
  for (int l = 0; l < f.nbodylevel; l++)
    for (int a = f.body_leveladr[l]; a < f.body_leveladr[l + 1]; a++) REQUIRE(f.body_level[f.body_order[a]] == l);

  CHECK(f.body_subtreenum[0] == f.nbody);
  for (int i = 1; i < f.nbody; i++) {
    const int p = f.body_parentid[i];
    REQUIRE((p < i && i + f.body_subtreenum[i] <= p + f.body_subtreenum[p]));
    int last = -1;
    for (int b = i; b && last < 0; b = f.body_parentid[b])
      if (f.body_dofnum[b]) last = f.body_dofadr[b] + f.body_dofnum[b] - 1;
    REQUIRE(f.body_lastdof[i] == last);
  }
}

// in random poses: MuJoCo's contacts are among the candidates, in their order and with their parameters
void check_pairs(const Model& model, int poses, double spread) {
  const mjModel* m = model.mjmodel();
  const FlatModel& f = model.flat();
  Data d(mj_makeData(m));
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  long contacts = 0, in_gap = 0;
  for (int k = 0; k < poses; k++) {
    for (int j = 0; j < f.njnt; j++) {
      double* q = d->qpos + f.jnt_qposadr[j];
      if (f.jnt_type[j] == mjJNT_FREE) {
        for (int i = 0; i < 3; i++) q[i] = m->qpos0[f.jnt_qposadr[j] + i] + spread * uniform(random);
        for (int i = 3; i < 7; i++) q[i] = uniform(random);
        mju_normalize4(q + 3);
      } else {
        q[0] = uniform(random) * 2;
      }
    }
    mj_forward(m, d.get());
    int p = 0;
    for (int c = 0; c < d->ncon; c++) {
      const mjContact& con = d->contact[c];
      while (p < f.npair && (f.pair_geom1[p] != con.geom[0] || f.pair_geom2[p] != con.geom[1])) p++;
      INFO("pose " << k << " contact " << c << " of geoms " << con.geom[0] << " " << con.geom[1]);
      REQUIRE(p < f.npair);
      REQUIRE(f.pair_dim[p] == con.dim);
      REQUIRE(f.pair_margin[p] == con.includemargin);
      REQUIRE(con.dist < f.pair_margin[p] + f.pair_gap[p]);
      REQUIRE((con.exclude == 1) == (con.dist >= f.pair_margin[p]));
      for (int i = 0; i < 2; i++) REQUIRE(f.pair_solref[2 * p + i] == con.solref[i]);
      for (int i = 0; i < 2; i++) REQUIRE(f.pair_solreffriction[2 * p + i] == con.solreffriction[i]);
      for (int i = 0; i < 5; i++) REQUIRE(f.pair_solimp[5 * p + i] == con.solimp[i]);
      for (int i = 0; i < 5; i++) REQUIRE(f.pair_friction[5 * p + i] == con.friction[i]);
      if (con.dim == 1 && con.efc_address >= 0)
        REQUIRE(d->efc_diagA[con.efc_address] == Approx(f.pair_invweight[2 * p]).epsilon(1e-12));
      contacts++;
      in_gap += con.exclude != 0;
    }
  }
  CHECK(contacts > poses);
  if (spread < 0.5) CHECK(in_gap > 0);
}

}  // namespace

TEST_CASE("tree: levels, chains and rows of M") {
  for (const char* name : {"stick", "simple", "muscular"}) {
    INFO(name);
    check_tree(Model::from_file(body(name)).flat());
  }
  const Model mixed = Model::from_xml(kMixed);
  check_tree(mixed.flat());
  const FlatModel& f = mixed.flat();
  CHECK(f.nchain == 8);
  CHECK(f.nfric == 1);
  CHECK(f.nfreebody == 4);  // b has a child
}

TEST_CASE("tree: the pattern of M is MuJoCo's") {
  const Model model = Model::from_file(body("muscular"));
  const mjModel* m = model.mjmodel();
  const FlatModel& f = model.flat();
  for (int k = 0; k < f.nv; k++) {
    REQUIRE(f.dof_depth[k] + 1 == m->M_rownnz[k]);
    for (int a = 0; a <= f.dof_depth[k]; a++) REQUIRE(f.M_colind[f.M_coladr[k] + a] == m->M_colind[m->M_rowadr[k] + a]);
  }
}

TEST_CASE("pairs: the bodies' contacts are candidates, in order, with the same parameters") {
  for (const char* name : {"stick", "simple", "muscular"}) {
    INFO(name);
    check_pairs(Model::from_file(body(name)), 200, 1);
  }
}

TEST_CASE("pairs: mixed geom types, mixing rules, margins and gaps, excludes") {
  for (const char* flags :
       {"", "<option><flag midphase=\"disable\"/></option>", "<option><flag filterparent=\"disable\"/></option>"}) {
    INFO(flags);
    std::string xml = kMixed;
    xml.insert(xml.find("<worldbody>"), flags);
    check_pairs(Model::from_xml(xml), 500, 0.15);
  }
}

TEST_CASE("pairs: filters") {
  const Model model = Model::from_xml(kMixed);
  const FlatModel& f = model.flat();
  auto has = [&](const char* a, const char* b) {
    const int g1 = model.geom_id(a), g2 = model.geom_id(b);
    for (int p = 0; p < f.npair; p++)
      if ((f.pair_geom1[p] == g1 && f.pair_geom2[p] == g2) || (f.pair_geom1[p] == g2 && f.pair_geom2[p] == g1)) return true;
    return false;
  };
  CHECK(has("floor", "a0"));
  CHECK(has("a0", "b0"));
  CHECK(has("p0", "e0"));           // by contype of one only
  CHECK_FALSE(has("a0", "a1"));     // one body
  CHECK_FALSE(has("b0", "b2"));     // parent and child
  CHECK_FALSE(has("b2", "b3"));     // welded
  CHECK_FALSE(has("b0", "b3"));     // parent and child, after welding
  CHECK_FALSE(has("a0", "d0"));     // excluded
  CHECK_FALSE(has("a0", "e0"));     // contype
  CHECK_FALSE(has("floor", "p0"));  // neither moves
  for (int p = 0; p < f.npair; p++) CHECK(f.geom_type[f.pair_geom1[p]] <= f.geom_type[f.pair_geom2[p]]);
}

TEST_CASE("names and ids") {
  const Model model = Model::from_file(body("simple"));
  CHECK(model.body_name(model.body_id("thorax")) == "thorax");
  CHECK(model.joint_name(model.joint_id("l_knee")) == "l_knee");
  CHECK(model.nq() == 44);
  CHECK(model.nv() == 43);
  CHECK(model.nu() == 37);
  CHECK(model.timestep() == 0.005);
  CHECK(error_of([&] { model.body_id("torax"); }).has("no body is named \"torax\"; closest: \"thorax\""));
  CHECK(error_of([&] { model.joint_id(""); }).has("closest"));
  CHECK(error_of([&] { model.key_id("stand"); }).has("no keyframe has a name"));
  CHECK_THROWS_AS(model.body_name(-1), Error);
  CHECK_THROWS_AS(model.body_name(model.nbody()), Error);
}

TEST_CASE("default slots") {
  auto slots = [](const Model& m) { return std::vector<int>{m.default_nconmax(), m.default_njmax()}; };
  CHECK(slots(Model::from_file(body("stick"))) == std::vector<int>{16, 96});
  CHECK(slots(Model::from_file(body("simple"))) == std::vector<int>{32, 192});
  CHECK(slots(Model::from_file(body("muscular"))) == std::vector<int>{72, 576});

  // 80,000 candidate pairs
  const Model many = Model::from_xml(R"(<mujoco><worldbody>
    <replicate count="20" offset=".11 0 0"><replicate count="20" offset="0 .11 0"><geom size=".05"/></replicate></replicate>
    <body pos="0 0 1"><freejoint/><replicate count="200" offset=".02 0 0"><geom size=".01"/></replicate></body>
    </worldbody></mujoco>)");
  CHECK(many.npair() == 80000);
  CHECK(many.default_nconmax() <= 64);
}

TEST_CASE("a model without contacts, and one of a single hinge") {
  const Model model = Model::from_xml("<mujoco><worldbody><body><joint/><geom size=\".1\"/></body></worldbody></mujoco>");
  CHECK(model.npair() == 0);
  CHECK(model.nv() == 1);
  CHECK(model.default_nconmax() == 8);
  CHECK(model.flat().nM == 20);
}

TEST_CASE("a model from mjModel is a copy, and an MJB is the same model") {
  Model model = Model::from_file(body("stick"));
  std::unique_ptr<mjModel, void (*)(mjModel*)> own(mj_copyModel(nullptr, model.mjmodel()), mj_deleteModel);
  const Model copy = Model::from_mjmodel(own.get());
  own->opt.timestep = 1;
  CHECK(copy.timestep() == model.timestep());
  CHECK(copy.mjmodel()->opt.timestep == model.timestep());
  CHECK(copy.flat().pair_geom2 == model.flat().pair_geom2);

  const auto path = std::filesystem::temp_directory_path() / "batchsim_model_test.mjb";
  mj_saveModel(copy.mjmodel(), path.c_str(), nullptr, 0);
  const Model loaded = Model::from_file(path.string());
  std::filesystem::remove(path);
  CHECK(loaded.nv() == model.nv());
  CHECK(loaded.flat().body_inertia == model.flat().body_inertia);

  const Model other = model;  // shares
  CHECK(other.mjmodel() == model.mjmodel());
}

TEST_CASE("docs/features.md and docs/fields.md are what info prints") {
  const auto page = [](const char* name) {
    std::ifstream in(std::string(BATCHSIM_SOURCE) + "/docs/" + name);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  };
  CHECK(page("features.md") == features_markdown());
  CHECK(page("fields.md") == fields_markdown());
}
