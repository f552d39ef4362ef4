// Pictures and video: files that others can read, and a body that can be seen in them.
#include <mujoco/mujoco.h>
#include <png.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
// after <cstdio>, which it needs
#include <jpeglib.h>

#include "catch.h"
#include "error_of.h"
#include "record/font.h"
#include "record/gl_context.h"
#include "record/jpeg.h"
#include "record/png.h"
#include "record/renderer.h"
#include "record/sheet.h"
#include "record/video.h"
#include "stance/folder.h"

using namespace stance;
using batchsim::Error;
namespace fs = std::filesystem;

namespace {

// no file of this program grows over so many bytes, as on a full disk
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit old_;
};

std::vector<uint8_t> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// no two rows or columns are alike, so that a flip or a swap of colours shows; smooth, as JPEG likes it
Image gradient(int width, int height, int phase = 0) {
  Image i(width, height);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      uint8_t* p = i.at(x, y);
      p[0] = uint8_t(200 * x / width), p[1] = uint8_t(200 * y / height), p[2] = uint8_t(20 * phase + 10);
    }
  return i;
}

Image noise(int width, int height) {
  Image i(width, height);
  uint32_t s = 1;
  for (uint8_t& x : i.rgb) x = uint8_t((s = s * 1664525u + 1013904223u) >> 24);
  return i;
}

Image read_png(const std::string& path) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  REQUIRE(png_image_begin_read_from_file(&png, path.c_str()));
  png.format = PNG_FORMAT_RGB;
  Image i(int(png.width), int(png.height));
  REQUIRE(png_image_finish_read(&png, nullptr, i.rgb.data(), 0, nullptr));
  return i;
}

Image read_jpeg(const uint8_t* data, size_t size) {
  jpeg_error_mgr errors;
  jpeg_decompress_struct jpeg;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, const_cast<uint8_t*>(data), size);
  jpeg_read_header(&jpeg, TRUE);
  jpeg.out_color_space = JCS_RGB;
  jpeg_start_decompress(&jpeg);
  Image i(int(jpeg.output_width), int(jpeg.output_height));
  while (jpeg.output_scanline < jpeg.output_height) {
    uint8_t* row = i.at(0, int(jpeg.output_scanline));
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  CHECK(errors.num_warnings == 0);
  jpeg_destroy_decompress(&jpeg);
  return i;
}

double mean_difference(const Image& a, const Image& b) {
  REQUIRE(a.width == b.width);
  REQUIRE(a.height == b.height);
  double sum = 0;
  for (size_t k = 0; k < a.rgb.size(); k++) sum += std::abs(int(a.rgb[k]) - b.rgb[k]);
  return sum / double(a.rgb.size());
}

int differing_pixels(const Image& a, const Image& b) {
  int n = 0;
  for (int y = 0; y < a.height; y++)
    for (int x = 0; x < a.width; x++) {
      int d = 0;
      for (int c = 0; c < 3; c++) d += std::abs(int(a.at(x, y)[c]) - b.at(x, y)[c]);
      n += d > 30;
    }
  return n;
}

// a list or chunk of a RIFF file
struct Riff {
  const std::vector<uint8_t>& bytes;
  std::string name(size_t at) const { return {bytes.begin() + long(at), bytes.begin() + long(at) + 4}; }
  uint32_t u32(size_t at) const { return bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | uint32_t(bytes[at + 3]) << 24; }
  uint32_t u16(size_t at) const { return bytes[at] | bytes[at + 1] << 8; }
};

struct Stage {
  mjModel* m;
  mjData* d;
  explicit Stage(const char* name) {
    char message[1000] = "";
    m = mj_loadXML((std::string(BATCHSIM_MODELS) + "/" + name).c_str(), nullptr, message, sizeof message);
    INFO(message);
    REQUIRE(m);
    d = mj_makeData(m);
    mj_forward(m, d);
  }
  ~Stage() {
    mj_deleteData(d);
    mj_deleteModel(m);
  }
};

// why nothing can be rendered here, if nothing can; a machine without OpenGL passes with a warning
std::optional<std::string> missing_gl() {
  try {
    GlContext context;
    CHECK(context.describe().find("OpenGL") != std::string::npos);
    return {};
  } catch (const Error& e) {
    CHECK(e.kind() == Error::kDevice);
    WARN("nothing is rendered here: " << e.what());
    return e.what();
  }
}

}  // namespace

TEST_CASE("a PNG is read back as it was written") {
  const Folder folder;
  for (const Image& image : {gradient(61, 37), noise(17, 5), Image(1, 1)}) {
    write_png(folder / "a.png", image);
    const Image back = read_png(folder / "a.png");
    CHECK(back.width == image.width);
    CHECK(back.height == image.height);
    CHECK(back.rgb == image.rgb);
  }
  CHECK_FALSE(fs::exists(folder / "a.png.tmp"));
}

TEST_CASE("what cannot be written is an error that names it, and leaves what was there") {
  const Folder folder;
  const std::string nowhere = folder / "none/a.png";
  const Thrown e = error_of([&] { write_png(nowhere, gradient(4, 4)); });
  CHECK(e.kind == Error::kInput);
  CHECK(e.has(nowhere));
  CHECK(e.has("No such file or directory"));
  CHECK(error_of([&] { VideoWriter(folder / "none/a.avi", 16, 16, 10); }).has("a.avi"));
  CHECK(error_of([&] { write_png(folder / "", gradient(4, 4)); }).has("not a plain file"));
  CHECK(error_of([&] { write_png("/dev/null", gradient(4, 4)); }).has("'/dev/null'"));
  CHECK_FALSE(fs::is_regular_file("/dev/null"));
  CHECK(error_of([&] { write_png(folder / "a.png", Image()); }).has("0 x 0"));
  CHECK(error_of([&] { VideoWriter(folder / "a.avi", 0, 16, 10); }).has("width of a video is 0"));
  CHECK(error_of([&] { VideoWriter(folder / "a.avi", 16, 16, 0); }).has("fps"));
  CHECK(folder.empty());

  write_png(folder / "a.png", gradient(8, 8));
  {
    VideoWriter video(folder / "a.avi", 64, 64, 10);
    const SmallFiles full(20000);
    CHECK(error_of([&] { write_png(folder / "a.png", noise(200, 200)); }).has("File too large"));
    Thrown fault;
    for (int k = 0; k < 20 && fault.kind < 0; k++) fault = error_of([&] { video.frame(noise(64, 64)); });
    CHECK(fault.has("a.avi"));
    CHECK(fault.has("File too large"));
    // what is broken off is not closed as if it were whole
    CHECK(error_of([&] { video.close(); }).has("record it anew"));
  }
  CHECK(read_png(folder / "a.png").rgb == gradient(8, 8).rgb);
  CHECK_FALSE(fs::exists(folder / "a.png.tmp"));
  CHECK_FALSE(fs::exists(folder / "a.avi"));
  CHECK_FALSE(fs::exists(folder / "a.avi.tmp"));
}

TEST_CASE("letters are drawn, and cut at the edges") {
  Image image(kLetterWidth * 95, kLetterHeight);
  std::string all;
  for (char c = ' '; c <= '~'; c++) all += c;
  draw_text(image, 0, 0, all, {255, 255, 255});
  // each letter has a shape of its own
  std::vector<std::vector<uint8_t>> shapes;
  for (int k = 0; k < 95; k++) {
    std::vector<uint8_t> shape;
    for (int y = 0; y < kLetterHeight; y++)
      for (int x = 0; x < kLetterWidth; x++) shape.push_back(*image.at(kLetterWidth * k + x, y));
    for (int y = 0; y < kLetterHeight; y++) CHECK(shape[kLetterWidth * y + 5] == 0);
    CHECK(std::count(shapes.begin(), shapes.end(), shape) == 0);
    shapes.push_back(shape);
  }
  Image other(kLetterWidth * 95, kLetterHeight);
  draw_text(other, 0, 0, "\xc3?", {255, 255, 255});
  CHECK(std::equal(other.at(0, 2), other.at(5, 2), other.at(6, 2)));
  draw_text(other, -3, -3, "cut", {1, 2, 3}, 4);
  draw_text(other, other.width - 2, 0, "cut", {1, 2, 3}, 4);
  CHECK(text_width("four", 2) == 48);
  CHECK(fit_text("four", 24) == "four");
  CHECK(fit_text("seven..", 24) == "se..");
  CHECK(fit_text("x", 3).empty());
}

TEST_CASE("a contact sheet has its frames in rows, with labels below") {
  Sheet sheet("title", 3);
  CHECK(error_of([&] { sheet.image(); }).has("'title'"));
  for (int k = 0; k < 5; k++) sheet.add(gradient(100, 80, k), "t " + std::to_string(k) + " s");
  CHECK(sheet.frames() == 5);
  const Image image = sheet.image();
  // margins of 12, lines of 7, 6 between a frame and its label
  const int column = 100 + 12, row = 80 + 6 + 7 + 12, top = 12 + 10 + 12;
  CHECK(image.width == 12 + 3 * column);
  CHECK(image.height == top + 2 * row);
  for (int k = 0; k < 5; k++) {
    const Image frame = gradient(100, 80, k);
    const int x = 12 + k % 3 * column, y = top + k / 3 * row;
    bool same = true;
    for (int v = 0; v < 80; v++) same = same && std::equal(frame.at(0, v), frame.at(0, v) + 300, image.at(x, y + v));
    CHECK(same);
    int ink = 0;
    for (int v = y + 86; v < y + 93; v++)
      for (int u = x; u < x + 100; u++) ink += *image.at(u, v) < 100;
    CHECK(ink > 20);
  }
  // a row is no wider than its frames; without a title there is no line for it
  Sheet one("", 4);
  one.add(gradient(100, 80), "");
  CHECK(one.image().width == 12 + column);
  CHECK(one.image().height == 12 + row);
  CHECK(error_of([&] { one.add(gradient(100, 81), ""); }).has("100 x 81"));
  CHECK(error_of([&] { one.add(Image(), ""); }).has("0 x 0"));
  CHECK(error_of([] { Sheet("", 0); }).has("0 columns"));
}

TEST_CASE("an AVI holds its frames, and its index points at them") {
  const Folder folder;
  const std::string path = folder / "a.avi";
  const int n = 7, width = 65, height = 43;
  {
    VideoWriter video(path, width, height, 25);
    CHECK(error_of([&] { video.close(); }).has("no frame"));
    for (int k = 0; k < n; k++) video.frame(gradient(width, height, k));
    CHECK(error_of([&] { video.frame(gradient(width, 44)); }).has("65 x 44"));
    CHECK(video.frames() == n);
    CHECK_FALSE(fs::exists(path));
    video.close();
    CHECK(error_of([&] { video.frame(gradient(width, height)); }).has("is closed"));
  }
  CHECK_FALSE(fs::exists(path + ".tmp"));

  const std::vector<uint8_t> bytes = bytes_of(path);
  const Riff r{bytes};
  REQUIRE(bytes.size() > 300);
  CHECK(r.name(0) == "RIFF");
  CHECK(r.u32(4) == bytes.size() - 8);
  CHECK(r.name(8) == "AVI ");
  CHECK(r.name(12) == "LIST");
  CHECK(r.name(20) == "hdrl");
  CHECK(r.name(24) == "avih");
  CHECK(r.u32(28) == 56);
  CHECK(r.u32(32) == 40000);   // us a frame
  CHECK(r.u32(32 + 16) == n);  // frames
  CHECK(r.u32(32 + 32) == width);
  CHECK(r.u32(32 + 36) == height);
  CHECK(r.name(88) == "LIST");
  CHECK(r.name(96) == "strl");
  CHECK(r.name(100) == "strh");
  CHECK(r.name(108) == "vids");
  CHECK(r.name(112) == "MJPG");
  CHECK(r.u32(108 + 20) == 1);   // scale
  CHECK(r.u32(108 + 24) == 25);  // rate
  CHECK(r.u32(108 + 32) == n);   // length
  CHECK(r.name(164) == "strf");
  CHECK(r.u32(172) == 40);
  CHECK(r.u16(172 + 14) == 24);
  CHECK(r.name(172 + 16) == "MJPG");
  // the lists end where the next begin
  const size_t movi = 20 + r.u32(16);
  CHECK(movi == 96 + r.u32(92));
  CHECK(r.name(movi) == "LIST");
  CHECK(r.name(movi + 8) == "movi");
  const size_t index = movi + 8 + r.u32(movi + 4);
  REQUIRE(index + 8 + 16 * n == bytes.size());
  CHECK(r.name(index) == "idx1");
  CHECK(r.u32(index + 4) == 16 * n);

  size_t next = movi + 12;
  for (int k = 0; k < n; k++) {
    const size_t entry = index + 8 + 16 * size_t(k), chunk = movi + 8 + r.u32(entry + 8);
    const uint32_t size = r.u32(entry + 12);
    CHECK(r.name(entry) == "00dc");
    CHECK(r.u32(entry + 4) == 0x10);  // a key frame
    REQUIRE(chunk == next);
    CHECK(chunk % 2 == 0);
    CHECK(r.name(chunk) == "00dc");
    CHECK(r.u32(chunk + 4) == size);
    REQUIRE(chunk + 8 + size <= index);
    CHECK(r.u32(32 + 28) >= size);  // the largest chunk
    CHECK(mean_difference(read_jpeg(bytes.data() + chunk + 8, size), gradient(width, height, k)) < 3);
    next = chunk + 8 + size + size % 2;
  }
  CHECK(next == index);
}

TEST_CASE("a video without a close leaves nothing") {
  const Folder folder;
  {
    VideoWriter video(folder / "a.avi", 16, 16, 10);
    video.frame(gradient(16, 16));
  }
  CHECK(folder.empty());
}

TEST_CASE("what JPEG cannot hold is an error, not the end of the program") {
  CHECK(error_of([] { encode_jpeg(Image(66000, 1), 90); }).has("66000 x 1"));
  CHECK(error_of([] { encode_jpeg(Image(), 90); }).has("0 x 0"));
}

TEST_CASE("a body can be seen, and the camera follows it") {
  if (missing_gl()) return;
  const Stage s("stick.xml");
  Renderer renderer(s.m, 160, 120);
  const Image standing = renderer.frame(s.d);
  REQUIRE(standing.whole());
  CHECK(std::adjacent_find(standing.rgb.begin(), standing.rgb.end(), std::not_equal_to<>()) != standing.rgb.end());
  CHECK(differing_pixels(standing, renderer.frame(s.d)) == 0);
  // the sky is above, and lighter than the floor
  CHECK(standing.at(2, 2)[2] > standing.at(2, 117)[2] + 30);

  // 20 m up only the floor is left
  s.d->qpos[2] += 20;
  mj_forward(s.m, s.d);
  const Image away = renderer.frame(s.d);
  const int body = differing_pixels(standing, away);
  CHECK(body > 160 * 120 / 50);
  CHECK(body < 160 * 120 / 3);

  // by two pairs of tiles along the floor all looks alike
  s.d->qpos[2] -= 20, s.d->qpos[0] += 2, s.d->qpos[1] -= 2;
  mj_forward(s.m, s.d);
  CHECK(differing_pixels(standing, renderer.frame(s.d)) < 20);

  renderer.look(90, -10, 3);
  CHECK(differing_pixels(standing, renderer.frame(s.d)) > body / 4);
}

TEST_CASE("from near and far the body stands before floor and sky") {
  if (missing_gl()) return;
  const Stage s("stick.xml");
  Renderer renderer(s.m, 160, 120);
  for (double distance : {1.0, 4.0, 12.0, 30.0}) {
    INFO(distance << " m");
    renderer.look(160, -10, distance);
    const Image here = renderer.frame(s.d);
    CHECK(here.at(2, 2)[2] > 180);
    s.d->qpos[2] += 50;
    mj_forward(s.m, s.d);
    CHECK(differing_pixels(here, renderer.frame(s.d)) > 10);
    s.d->qpos[2] -= 50;
    mj_forward(s.m, s.d);
  }
  for (double distance : {0.0, 31.0, double(NAN)}) CHECK(error_of([&] { renderer.look(0, 0, distance); }).has("m away"));
}

TEST_CASE("a state that has blown up is still a picture") {
  if (missing_gl()) return;
  const Stage s("stick.xml");
  Renderer renderer(s.m, 160, 120);
  const Image before = renderer.frame(s.d);
  for (double value : {double(NAN), 1e30}) {
    std::fill_n(s.d->xpos, 3 * s.m->nbody, value);
    std::fill_n(s.d->geom_xpos + 3, 3 * (s.m->ngeom - 1), value);
    const Image image = renderer.frame(s.d);
    CHECK(image.whole());
    CHECK(mean_difference(image, before) < 40);
  }
  mj_forward(s.m, s.d);
  CHECK(differing_pixels(before, renderer.frame(s.d)) == 0);
}

TEST_CASE("a shove is an arrow until it is cleared") {
  if (missing_gl()) return;
  const Stage s("stick.xml");
  Renderer renderer(s.m, 160, 120), other(s.m, 64, 64);
  const Image plain = renderer.frame(s.d);
  const double from[3] = {0, 0, 1.2}, force[3] = {0, 100, 0}, none[3] = {};
  renderer.arrow(from, force);
  const Image shoved = renderer.frame(s.d);
  const int arrow = differing_pixels(plain, shoved);
  CHECK(arrow > 30);
  // another renderer's frame between two does not disturb
  CHECK(other.frame(s.d).width == 64);
  CHECK(differing_pixels(shoved, renderer.frame(s.d)) == 0);
  const double twice[3] = {0, 200, 0};
  renderer.arrow(from, twice);
  CHECK(differing_pixels(plain, renderer.frame(s.d)) > arrow * 3 / 2);
  renderer.arrow(from, none);
  CHECK(differing_pixels(plain, renderer.frame(s.d)) == 0);
  renderer.arrow(from, force);
  renderer.clear_arrow();
  CHECK(differing_pixels(plain, renderer.frame(s.d)) == 0);
}

TEST_CASE("an arrow's tip and tail are where the force says") {
  if (missing_gl()) return;
  const Stage s("stick.xml");
  Renderer renderer(s.m, 400, 400);
  renderer.look(180, 0, 4);  // +y is to the right
  const Image plain = renderer.frame(s.d);
  const double at[3] = {0, -0.3, 1.2}, force[3] = {0, 100, 0};
  renderer.arrow(at, force);
  const Image shoved = renderer.frame(s.d);
  int left = 400, right = -1;
  for (int x = 0; x < 400; x++)
    for (int y = 0; y < 400; y++)
      if (std::abs(int(plain.at(x, y)[0]) - shoved.at(x, y)[0]) > 30) left = std::min(left, x), right = std::max(right, x);
  // 35 degrees are 400 pixels
  const double per_metre = 200 / (4 * std::tan(17.5 * mjPI / 180));
  CHECK(right == Approx(200 + per_metre * (-0.3 - 0.15)).margin(2));
  CHECK(left == Approx(200 + per_metre * (-0.3 - 0.15 - 0.4)).margin(2));
}

TEST_CASE("all bodies are rendered, up to the largest size") {
  if (missing_gl()) return;
  for (const char* name : {"simple.xml", "muscular.xml"}) {
    const Stage s(name);
    CHECK(Renderer(s.m, 1000, 90).frame(s.d).width == 1000);  // wider than the model's own buffer
    for (int side : {15, 4097}) CHECK(error_of([&] { Renderer(s.m, side, 90); }).has(std::to_string(side) + " x 90"));
  }
}

TEST_CASE("an unknown way to OpenGL is an error") {
  const char* old = std::getenv("MUJOCO_GL");
  const std::string before = old ? old : "";
  setenv("MUJOCO_GL", "glx", 1);
  CHECK(error_of([] { GlContext(); }).has("egl or osmesa"));
  if (old)
    setenv("MUJOCO_GL", before.c_str(), 1);
  else
    unsetenv("MUJOCO_GL");
}
