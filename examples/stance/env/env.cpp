#include "env/env.h"

namespace stance {

// here, not in the header: files of an instruction set must not give the linker a copy for all processors
template <class T>
Env<T>::Env(const Body& body, const EnvOptions& options) : body_(body), reference_(make_reference(body)), options_(options) {}
template <class T>
Env<T>::~Env() = default;

template class Env<float>;
template class Env<double>;

}  // namespace stance
