#include "record/jpeg.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <string>
// after <cstdio>, which it needs
#include <jpeglib.h>

#include "batchsim/error.h"

namespace stance {
namespace {

using batchsim::Error;

// libjpeg's own way with an error is exit()
struct Failure {
  jpeg_error_mgr manager;  // first: libjpeg hands back its address
  jmp_buf back;
  char message[JMSG_LENGTH_MAX];
};

void leave(j_common_ptr info) {
  auto* failure = reinterpret_cast<Failure*>(info->err);
  failure->manager.format_message(info, failure->message);
  longjmp(failure->back, 1);
}

struct Encoded {
  unsigned char* data = nullptr;
  unsigned long size = 0;
  ~Encoded() { std::free(data); }
};

// nothing with a destructor lives in here, as longjmp would skip it
bool compress(const Image& image, int quality, Failure& failure, Encoded& out) {
  jpeg_compress_struct jpeg;
  jpeg.err = jpeg_std_error(&failure.manager);
  failure.manager.error_exit = leave;
  if (setjmp(failure.back)) {
    jpeg_destroy_compress(&jpeg);
    return false;
  }
  jpeg_create_compress(&jpeg);
  jpeg_mem_dest(&jpeg, &out.data, &out.size);
  jpeg.image_width = image.width, jpeg.image_height = image.height;
  jpeg.input_components = 3, jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, quality, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(image.at(0, jpeg.next_scanline));
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  return true;
}

}  // namespace

std::vector<uint8_t> encode_jpeg(const Image& image, int quality) {
  if (!image.whole())
    throw Error(Error::kInput, "an image of " + std::to_string(image.width) + " x " + std::to_string(image.height) + " with " +
                                   std::to_string(image.rgb.size()) + " bytes is no JPEG; it needs 3 bytes a pixel, and a pixel");
  Failure failure;
  Encoded out;
  if (!compress(image, quality, failure, out))
    throw Error(Error::kInput, "libjpeg cannot compress an image of " + std::to_string(image.width) + " x " +
                                   std::to_string(image.height) + ": '" + failure.message + "'; make it smaller");
  return {out.data, out.data + out.size};
}

}  // namespace stance
