// a program outside the source tree: finds, links and runs the installed library
#include <batchsim/batchsim.h>

#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: consumer MODEL.xml\n"), 3;
  const batchsim::Model model = batchsim::Model::from_file(argv[1]);
  batchsim::Batch batch(model, {.nworld = 4});
  batch.step(10);

  const auto qpos = batch.bind<float>("qpos");
  std::printf("root height of world 3 after 10 steps: %.4f m\n", qpos(3, 2));
  return qpos(3, 2) > 0.9f && qpos(3, 2) < 0.95f ? 0 : 1;
} catch (const batchsim::Error& error) { return std::fprintf(stderr, "%s\n", error.what()), 3; }
