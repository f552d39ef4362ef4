// Models that MuJoCo rejects, and models that it loads and batchsim refuses: every message says what, which element and where.
#include <mujoco/mujoco.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "batchsim/model.h"
#include "catch.h"
#include "error_of.h"
#include "model/flat.h"
#include "model/support.h"

using namespace batchsim;
namespace fs = std::filesystem;

namespace {

// a folder of its own, which is the working directory for a while
class Folder {
 public:
  Folder() : old_(fs::current_path()), path_(fs::temp_directory_path() / ("batchsim_errors_" + std::to_string(++count_))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
    fs::current_path(path_);
  }
  ~Folder() {
    fs::current_path(old_);
    fs::remove_all(path_);
  }
  std::string write(const std::string& name, const std::string& text) {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  fs::path path() const { return path_; }

 private:
  static inline int count_ = 0;
  fs::path old_, path_;
};

std::string mujoco_message(const std::string& path) {
  char message[4096] = "";
  mjModel* m = mj_loadXML(path.c_str(), nullptr, message, sizeof message);
  mj_deleteModel(m);
  return message;
}

// parts of a model around a pendulum with a ball on a plane
struct Parts {
  std::string before, in_world, joint, after;
};
std::string pendulum(const Parts& p) {
  return "<mujoco>" + p.before + "<worldbody><geom name=\"floor\" type=\"plane\" size=\"1 1 .1\"/>" + p.in_world +
         "<body name=\"arm\" pos=\"0 0 1\"><joint name=\"hinge\" axis=\"0 1 0\" " + p.joint +
         "/><geom name=\"bob\" type=\"sphere\" size=\".1\" pos=\"0 0 -.5\"/><site name=\"eye\" pos=\"0 0 "
         "-.5\"/></body></worldbody>" +
         p.after + "</mujoco>";
}

struct Refusal {
  Parts parts;
  const char* feature;
  const char* element;
};

std::string on_option(const char* x) { return std::string("<option ") + x + "/>"; }
std::string flag(const char* x) { return std::string("<option><flag ") + x + "=\"enable\"/></option>"; }
std::string body(const char* x) { return std::string("<body name=\"other\" pos=\"1 0 1\">") + x + "</body>"; }
std::string actuator(const char* x) { return std::string("<actuator>") + x + "</actuator>"; }
std::string sensor(const char* x) { return std::string("<sensor>") + x + "</sensor>"; }

const std::vector<Refusal> kRefusals = {
    {{"", body("<joint name=\"x\" type=\"ball\"/><geom size=\".1\"/>"), "", ""}, "ball joint", "joint \"x\""},
    {{"", body("<joint name=\"x\" type=\"slide\"/><geom size=\".1\"/>"), "", ""}, "slide joint", "joint \"x\""},
    {{"", "<body name=\"hand\" mocap=\"true\"/>", "", ""}, "mocap body", "body \"hand\""},
    {{"", body("<joint name=\"x\" type=\"free\" stiffness=\"1\"/><geom size=\".1\"/>"), "", ""},
     "spring of a free joint",
     "joint \"x\""},
    {{"", "", "stiffness=\"1 2\"", ""}, "polynomial joint stiffness", "joint \"hinge\""},
    {{"", "", "damping=\"1 0 2\"", ""}, "polynomial joint damping", "joint \"hinge\""},
    {{"", "", "stiffness=\"1\" springyield=\".1\"", ""}, "plastic joint spring", "joint \"hinge\""},
    {{"", "<body name=\"other\" gravcomp=\"1\"><joint/><geom size=\".1\"/></body>", "", ""},
     "gravity compensation",
     "body \"other\""},

    {{"", body("<freejoint/><geom name=\"crate\" type=\"box\" size=\".1 .1 .1\"/>"), "", ""},
     "collision of other geom types",
     "geom \"floor\" with geom \"crate\" (plane, box)"},
    {{"", body("<freejoint/><geom type=\"cylinder\" size=\".1 .1\"/>"), "", ""},
     "collision of other geom types",
     "geom \"floor\" with geom 1 of body \"other\" (plane, cylinder)"},
    {{"", body("<freejoint/><geom name=\"egg\" type=\"ellipsoid\" size=\".1 .1 .2\"/>"), "", ""},
     "collision of other geom types",
     "geom \"bob\" with geom \"egg\" (sphere, ellipsoid)"},
    {{"", body("<freejoint/><geom name=\"sole\" size=\".1\" condim=\"6\"/>"), "", ""},
     "rolling friction",
     "geom \"floor\" with geom \"sole\" (plane, sphere)"},
    {{"", "", "", "<contact><pair name=\"p\" geom1=\"floor\" geom2=\"bob\"/></contact>"}, "explicit contact pair", "pair \"p\""},
    {{on_option("cone=\"elliptic\""), "", "", ""}, "elliptic friction cone", "option cone=\"elliptic\""},
    {{on_option("impratio=\"2\""), "", "", ""}, "friction impedance ratio", "option impratio"},
    {{"", "<geom name=\"belt\" size=\".1\" surfacevel=\"1 0 0 0 0 0\"/>", "", ""}, "surface velocity", "geom \"belt\""},
    {{"", "<geom name=\"glue\" size=\".1\" adhesion=\"1\"/>", "", ""}, "adhesion", "geom \"glue\""},

    {{"", "", "",
      "<tendon><fixed name=\"t\"><joint joint=\"hinge\" coef=\"1\"/></fixed></tendon>" +
          actuator("<motor name=\"m\" tendon=\"t\"/>")},
     "other transmission",
     "actuator \"m\" (tendon)"},
    {{"", "", "", actuator("<motor name=\"m\" site=\"eye\"/>")}, "other transmission", "actuator \"m\" (site)"},
    {{"", body("<freejoint name=\"free\"/><geom size=\".1\"/>"), "", actuator("<motor name=\"m\" joint=\"free\"/>")},
     "other transmission",
     "actuator \"m\" (free or ball joint)"},
    {{"", "", "", actuator("<general name=\"m\" joint=\"hinge\" dyntype=\"filter\"/>")},
     "activation dynamics",
     "actuator \"m\" (dyntype filter)"},
    {{"", "", "", actuator("<general name=\"m\" joint=\"hinge\" gaintype=\"user\"/>")},
     "other gain",
     "actuator \"m\" (gaintype user)"},
    {{"", "", "", actuator("<general name=\"m\" joint=\"hinge\" biastype=\"user\"/>")},
     "other bias",
     "actuator \"m\" (biastype user)"},
    {{"", "", "", actuator("<pid name=\"m\" joint=\"hinge\" input=\"pos vel\"/>")}, "several or no controls", "actuator \"m\""},
    {{"", "", "", actuator("<motor name=\"m\" joint=\"hinge\" damping=\"1\"/>")}, "actuator damping", "actuator \"m\""},
    {{"", "", "", actuator("<motor name=\"m\" joint=\"hinge\" armature=\"1\"/>")}, "actuator armature", "actuator \"m\""},
    {{"", "", "", actuator("<motor name=\"m\" joint=\"hinge\" delay=\".01\" nsample=\"8\"/>")}, "control delay", "actuator \"m\""},

    {{"", "", "", sensor("<accelerometer name=\"s\" site=\"eye\"/>")}, "other sensor", "sensor \"s\" (accelerometer)"},
    {{"", "", "", sensor("<rangefinder name=\"s\" site=\"eye\"/>")}, "other sensor", "sensor \"s\" (rangefinder)"},
    {{"", "", "", sensor("<user name=\"s\" dim=\"3\"/>")}, "other sensor", "sensor \"s\" (user)"},
    {{"", "<camera name=\"cam\"/>", "", sensor("<framepos name=\"s\" objtype=\"camera\" objname=\"cam\"/>")},
     "sensor of a camera",
     "sensor \"s\""},
    {{"", "", "", sensor("<framepos name=\"s\" objtype=\"site\" objname=\"eye\" reftype=\"body\" refname=\"arm\"/>")},
     "sensor with a reference frame",
     "sensor \"s\""},
    {{"", "", "", sensor("<jointpos name=\"s\" joint=\"hinge\" delay=\".01\" nsample=\"8\"/>")}, "sensor delay", "sensor \"s\""},

    {{on_option("integrator=\"RK4\""), "", "", ""}, "integrator RK4", "option"},
    {{on_option("integrator=\"implicit\""), "", "", ""}, "integrator implicit", "option"},
    {{on_option("integrator=\"discrete\""), "", "", ""}, "integrator discrete", "option"},
    {{on_option("solver=\"PGS\""), "", "", ""}, "solver PGS", "option"},
    {{on_option("solver=\"CG\""), "", "", ""}, "solver CG", "option"},
    {{on_option("noslip_iterations=\"3\""), "", "", ""}, "noslip solver", "option"},
    {{on_option("density=\"1.2\""), "", "", ""}, "medium", "option density"},
    {{on_option("viscosity=\"1\""), "", "", ""}, "medium", "option density, viscosity"},
    {{flag("override"), "", "", ""}, "override", "flag override"},
    {{flag("energy"), "", "", ""}, "energy", "flag energy"},
    {{flag("fwdinv"), "", "", ""}, "forward-inverse", "flag fwdinv"},
    {{flag("invdiscrete"), "", "", ""}, "discrete-time inverse", "flag invdiscrete"},
    {{flag("sleep"), "", "", ""}, "sleeping", "flag sleep"},
    {{flag("diagexact"), "", "", ""}, "exact diagonal", "flag diagexact"},
    {{"<option integrator=\"discrete\"><flag ipc=\"enable\"/></option>", "", "", ""}, "IPC", "flag ipc"},
    {{flag("speculative"), "", "", ""}, "speculative", "flag speculative"},

    {{"", "", "", "<tendon><fixed name=\"t\"><joint joint=\"hinge\" coef=\"1\"/></fixed></tendon>"}, "tendon", "tendon \"t\""},
    {{"", "", "", "<equality><joint name=\"q\" joint1=\"hinge\" active=\"false\"/></equality>"},
     "equality constraint",
     "equality \"q\""},
    {{"", "<flexcomp name=\"rope\" type=\"grid\" count=\"3 1 1\" spacing=\".1 .1 .1\" dim=\"1\" radius=\".01\" mass=\"1\"/>", "",
      ""},
     "flex",
     "flex \"rope\""},
};

}  // namespace

TEST_CASE("an edited mjModel is looked at before it is used") {
  const Model good = Model::from_file(BATCHSIM_MODELS "/stick.xml");
  const std::unique_ptr<mjModel, void (*)(mjModel*)> m(mj_copyModel(nullptr, good.mjmodel()), mj_deleteModel);
  const auto message = [&] { return error_of([&] { Model::from_mjmodel(m.get()); }); };
  const auto with = [&](int& value, int bad) {
    const int was = value;
    value = bad;
    const auto e = message();
    value = was;
    return e;
  };
  CHECK(with(m->geom_bodyid[1], 100000000).has("damaged"));
  CHECK(with(m->jnt_qposadr[1], 5000).has("damaged"));
  CHECK(with(m->geom_bodyid[9], -1).has("geom_bodyid[9] is -1"));
  CHECK(with(m->body_jntadr[5], 2147483647).has("body_jntadr[5] is 2147483647"));
  CHECK(with(m->body_dofadr[8], 2147483647).has("body_dofadr[8]"));
  CHECK(with(m->dof_treeid[0], 2147483647).has("dof_treeid[0]"));
  CHECK(with(m->sensor_dim[1], 1000000).has("sensor_dim[1]"));
  CHECK(with(m->name_geomadr[1], 1 << 30).has("damaged"));
  CHECK(with(m->opt.integrator, 77).has("integrator 77"));
  CHECK(with(m->opt.iterations, -1).has("iterations -1"));
  CHECK(with(m->geom_condim[1], 5).has("condim 5"));
  CHECK(Model::from_mjmodel(m.get()).nv() == good.nv());
}

TEST_CASE("refused: every feature by itself, with the element") {
  for (const Refusal& r : kRefusals) {
    const std::string xml = pendulum(r.parts);
    const Thrown e = error_of([&] { Model::from_xml(xml); });
    INFO(xml << "\n" << e.message);
    CHECK(e.kind == Error::kUnsupported);
    CHECK(e.has(r.feature));
    CHECK(e.has(r.element));
  }
}

TEST_CASE("refused: every row of the table has a case above") {
  for (const Feature& f : features()) {
    if (f.support != Support::kRefused) continue;
    const std::string name = f.name;
    if (name == "plugin") continue;                            // none is built into libmujoco
    if (name == "touch at a mesh site") continue;              // needs a mesh
    if (name == "model without degrees of freedom") continue;  // has a case of its own
    if (name == "values that MuJoCo does not know") continue;  // so have these
    INFO(name);
    bool covered = false;
    for (const Refusal& r : kRefusals) covered |= name.find(r.feature) != std::string::npos;
    CHECK(covered);
  }
}

TEST_CASE("refused: all of it in one message") {
  const Thrown e = error_of([] {
    Model::from_xml(pendulum({on_option("solver=\"CG\""), body("<joint name=\"ball\" type=\"ball\"/><geom size=\".1\"/>"), "",
                              sensor("<velocimeter name=\"v\" site=\"eye\"/><jointpos joint=\"hinge\"/>")}));
  });
  INFO(e.message);
  CHECK(e.kind == Error::kUnsupported);
  CHECK(e.has("ball joint: joint \"ball\""));
  CHECK(e.has("solver CG: option"));
  CHECK(e.has("other sensor: sensor \"v\" (velocimeter)"));
}

TEST_CASE("refused: long lists are cut, with the count") {
  const Thrown e = error_of([] {
    Model::from_xml(
        "<mujoco><worldbody><geom type=\"plane\" size=\"1 1 1\"/><replicate count=\"9\" offset=\"1 0 0\"><body pos=\"0 0 1\">"
        "<freejoint/><geom type=\"box\" size=\".1 .1 .1\"/></body></replicate></worldbody></mujoco>");
  });
  INFO(e.message);
  CHECK(e.has(" and 25 more\n"));  // 9 with the plane and 36 among each other
  CHECK(e.message.size() < 2000);
}

TEST_CASE("refused: muscular_full by its pairs of ellipsoids") {
  const Thrown e = error_of([] { Model::from_file(std::string(BATCHSIM_MODELS) + "/muscular_full.xml"); });
  CHECK(e.kind == Error::kUnsupported);
  CHECK(e.has("(capsule, ellipsoid)"));
  CHECK(e.has("File: /"));
}

TEST_CASE("refused: nothing moves, or too many pairs") {
  const Thrown still = error_of([] { Model::from_xml("<mujoco><worldbody><geom size=\".1\"/></worldbody></mujoco>"); });
  CHECK(still.kind == Error::kUnsupported);
  CHECK(still.has("model without degrees of freedom"));

  const Thrown many = error_of([] {
    Model::from_xml(
        "<mujoco><worldbody><replicate count=\"100\" offset=\"1 0 0\"><replicate count=\"50\" offset=\"0 1 0\"><geom "
        "size=\".1\"/></replicate></replicate><body pos=\"0 0 1\"><freejoint/><replicate count=\"1000\" offset=\".1 0 0\"><geom "
        "size=\".01\"/></replicate></body></worldbody></mujoco>");
  });
  INFO(many.message);
  CHECK(many.kind == Error::kCapacity);
  CHECK(many.has("5000000 candidate geom pairs"));
}

TEST_CASE("accepted: what changes nothing") {
  const std::string xml = pendulum(
      {"<option wind=\"1 0 0\" cone=\"elliptic\" impratio=\"10\"><flag island=\"disable\" multiccd=\"disable\"/></option><size "
       "nuserdata=\"3\"/><asset><mesh name=\"rock\" vertex=\"0 0 0 1 0 0 0 1 0 0 0 1\"/></asset>",
       "<camera/><light/>" + body("<geom type=\"mesh\" mesh=\"rock\"/>"), "frictionloss=\".1\" armature=\".1\"",
       "<custom><numeric name=\"n\" data=\"1\"/></custom>"});
  // friction makes the cone matter: none here
  std::string smooth = xml;
  for (size_t at = 0; (at = smooth.find("<geom ", at)) != std::string::npos; at += 6) smooth.insert(at + 6, "condim=\"1\" ");
  for (size_t at = smooth.find("type=\"mesh\""); at != std::string::npos; at = std::string::npos)
    smooth.insert(at, "contype=\"0\" conaffinity=\"0\" ");
  CHECK(error_of([&] { Model::from_xml(smooth); }).message == "");
}

TEST_CASE("rejected: MuJoCo's own message, and the file's full path") {
  Folder folder;
  const char* bad[] = {
      "<mujoco><worldbody><body><joint/><geom size=\".1\"/><body><freejoint/><geom "
      "size=\".1\"/></body></body></worldbody></mujoco>",
      "<mujoco><compiler coordinate=\"global\"/></mujoco>",
      "<mujoco><compiler autolimits=\"false\"/><worldbody><body><joint range=\"-3 3\"/><geom "
      "size=\".1\"/></body></worldbody></mujoco>",
      "<mujoco><worldbody><body><joint class=\"waist\"/><geom size=\".1\"/></body></worldbody></mujoco>",
      "<mujoco><worldbody><body quat=\"0 0 0 0\"><joint/><geom size=\".1\"/></body></worldbody></mujoco>",
      "<mujoco><extension><plugin plugin=\"lab.none\"/></extension></mujoco>",
      "<mujoco><asset><mesh file=\"hip part.stl\"/></asset></mujoco>",
      "<mujoco><worldbody><body><joint",
      "",
      "not a model",
  };
  for (const char* text : bad) {
    const std::string path = folder.write("sub/bad model.xml", text);
    const Thrown e = error_of([] { Model::from_file("sub/bad model.xml"); });
    INFO(text << "\n" << e.message);
    CHECK(e.kind == Error::kInput);
    CHECK(e.message.find(mujoco_message(path)) == 0);
    CHECK(e.has("File: " + path));
  }
  CHECK(error_of([] { Model::from_file("sub/bad.xml"); }).has("No such file\nFile: " + (folder.path() / "sub/bad.xml").string()));
  CHECK(error_of([] { Model::from_file("sub"); }).has("folder"));
  CHECK(error_of([] { Model::from_file(""); }).kind == Error::kInput);
  CHECK(error_of([] { Model::from_xml(""); }).kind == Error::kInput);
  CHECK(error_of([] { Model::from_mjmodel(nullptr); }).kind == Error::kInput);
  CHECK_FALSE(fs::exists("MUJOCO_LOG.TXT"));
}

TEST_CASE("rejected: with hints") {
  const Thrown e = error_of([] {
    Model::from_xml(
        "<mujoco><worldbody><site name=\"a\" pos=\"0 0 1.3\"/><body pos=\"0 0 1\"><joint type=\"slide\" axis=\"0 0 1\"/><geom "
        "size=\".05\"/>"
        "<site name=\"b\" pos=\".05 0 0\"/></body></worldbody><tendon><spatial name=\"t\"><site site=\"a\"/><site "
        "site=\"b\"/></spatial>"
        "</tendon><actuator><muscle tendon=\"t\"/></actuator></mujoco>");
  });
  INFO(e.message);
  CHECK(e.has("Lengthrange computation did not converge"));
  CHECK(e.has("lengthrange by hand"));
}

TEST_CASE("relative paths with includes, from another folder") {
  Folder folder;
  folder.write("in tree/scene.xml", "<mujoco><include file=\"parts/leg.xml\"/></mujoco>");
  folder.write("in tree/parts/leg.xml", "<mujoco><worldbody><body><joint/><geom size=\".1\"/></body></worldbody></mujoco>");
  CHECK(Model::from_file("in tree/scene.xml").nv() == 1);
  fs::current_path(folder.path() / "in tree" / "parts");
  CHECK(Model::from_file("../scene.xml").nv() == 1);
}

TEST_CASE("MJB files of another kind") {
  Folder folder;
  folder.write("short.mjb", "abc");
  folder.write("text.mjb", "\x01\x02\x03\x04 this is some text, not a model");
  const int old_header[5] = {54321, 8, 70, 3001002, 300};
  folder.write("old.mjb", std::string(reinterpret_cast<const char*>(old_header), sizeof old_header));
  const int header[5] = {54321, 8, 1, mj_version(), 1};
  folder.write("damaged.mjb", std::string(reinterpret_cast<const char*>(header), sizeof header));

  for (const char* name : {"short.mjb", "text.mjb"}) {
    const Thrown e = error_of([&] { Model::from_file(name); });
    INFO(e.message);
    CHECK(e.kind == Error::kInput);
    CHECK(e.has(std::string("not an MJB of MuJoCo ") + mj_versionString()));
    CHECK(e.has((folder.path() / name).string()));
  }
  const Thrown old = error_of([] { Model::from_file("old.mjb"); });
  INFO(old.message);
  CHECK(old.has(std::string("an MJB of MuJoCo 3.1.2, not of MuJoCo ") + mj_versionString()));
  CHECK(error_of([] { Model::from_file("damaged.mjb"); }).has("damaged MJB"));

  // cut anywhere: an error, no crash
  mj_saveModel(Model::from_file(std::string(BATCHSIM_MODELS) + "/stick.xml").mjmodel(), "whole.mjb", nullptr, 0);
  const auto size = static_cast<int>(fs::file_size("whole.mjb"));
  for (int n : {size - 1, size / 2, 1000, 21}) {
    fs::resize_file("whole.mjb", n);
    CHECK(error_of([] { Model::from_file("whole.mjb"); }).kind == Error::kInput);
  }
  CHECK_FALSE(fs::exists("MUJOCO_LOG.TXT"));
}

TEST_CASE("warnings are kept, and MuJoCo's log handler is put back") {
  const mjfLogHandler mine = [](const mjLogMessage*) {};
  const mjfLogHandler before = mju_setLogHandler(mine);
  const Model model = Model::from_xml(
      "<mujoco><worldbody><body><joint name=\"j\" range=\"30 -30\"/><geom size=\".1\"/></body></worldbody></mujoco>");
  REQUIRE(model.warnings().size() == 1);
  CHECK(model.warnings()[0].find("joint \"j\": its range is reversed") == 0);
  CHECK(model.flat().nlimit == 0);
  CHECK_THROWS_AS(Model::from_xml("<mujoco><x/></mujoco>"), Error);
  CHECK(mju_setLogHandler(before) == mine);
}

TEST_CASE("memory that runs out inside MuJoCo is an error, not the end of the process") {
  const std::string path = std::string(BATCHSIM_MODELS) + "/stick.xml";
  const Model model = Model::from_file(path);
  const auto none = [](size_t) -> void* { return nullptr; };
  std::vector<Thrown> thrown;
  mju_user_malloc = none;
  thrown.push_back(error_of([&] { Model::from_mjmodel(model.mjmodel()); }));
  thrown.push_back(error_of([&] { Model::from_file(path); }));
  mju_user_malloc = nullptr;
  for (const Thrown& e : thrown) CHECK(e.kind >= 0);
  CHECK(Model::from_file(path).nv() == model.nv());
}

TEST_CASE("models may be loaded in several threads") {
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (int t = 0; t < 4; t++)
    threads.emplace_back([t, &good] {
      for (int i = 0; i < 5; i++) {
        good[t] += Model::from_xml(pendulum({})).nv() == 1;
        good[t] += error_of([] { Model::from_xml("<mujoco><x/></mujoco>"); }).kind == Error::kInput;
      }
    });
  for (auto& t : threads) t.join();
  CHECK(good == std::vector<int>(4, 10));
}
