// docs/fields.md, from the tables of fields.
#include "world/fields_page.h"

#include "world/fields.h"

namespace batchsim {
namespace {

// one row; the sizes of the tables are expressions in members of z
std::string row(const char* name, std::string size, const char* doc) {
  for (size_t i; (i = size.find("z.")) != std::string::npos;) size.erase(i, 2);
  return std::string("| `") + name + "` | " + size + " | " + doc + " |\n";
}

const char* const kHead = "\n| field | values a world | |\n| --- | --- | --- |\n";

}  // namespace

std::string fields_markdown() {
  std::string r =
      "# Fields of a batch\n\n"
      "Written by `batchsim info --fields`, from the tables that the memory is made of. `batch.bind<T>(\"qpos\")` gives a view\n"
      "`(nworld, values)` of the batch's own memory. Names and layouts are MuJoCo's, where MuJoCo has the field; M and qLD are "
      "kept\n"
      "in panels of four rows (`libbatchsim/src/kernels/panel.h`; `export_mjdata` writes MuJoCo's layout, and qLDiagInv beside "
      "it).\n"
      "\n## State: to read and to write\n\nfloat or double, as the batch's precision.\n";
  r += kHead;
#define X(name, size, doc) r += row(#name, #size, doc);
  BS_STATE_FIELDS(X)
  r += "\n## Derived: filled by step and forward, from the first bind on\n\nfloat or double, as the batch's precision.\n";
  r += kHead;
  BS_DERIVED_FIELDS(X)
  r += "\n## Counters\n\nint; the status bits are in `batchsim/status.h`.\n";
  r += kHead;
  BS_STATE_INTS(X)
#undef X
  return r;
}

}  // namespace batchsim
