// many bodies, each dropped from its own height
#include <batchsim/batchsim.h>

#include <algorithm>
#include <cstdio>

int main(int argc, char** argv) try {
  const int nworld = 256;
  const batchsim::Model model = batchsim::Model::from_file(argc > 1 ? argv[1] : "models/simple.xml");
  batchsim::Batch batch(model, {.nworld = nworld});

  // a view of the batch's own memory: (nworld, nq), one row a world
  auto qpos = batch.bind<float>("qpos");
  for (int w = 0; w < nworld; w++) qpos(w, 2) += 0.002f * w;

  batch.step(200);  // 1 s

  float lowest = qpos(0, 2), highest = lowest;
  for (int w = 1; w < nworld; w++) {
    lowest = std::min(lowest, qpos(w, 2));
    highest = std::max(highest, qpos(w, 2));
  }
  std::printf("after 1 s the roots are between %.3f m and %.3f m high\n", lowest, highest);
} catch (const batchsim::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 3;
}
