// What batchsim throws: one type, with a kind for programs and a message for people.
#pragma once

#include <stdexcept>
#include <string>

namespace batchsim {

class Error : public std::runtime_error {
 public:
  enum Kind {
    kInput,        ///< MuJoCo rejects the model, or the call's arguments are wrong
    kUnsupported,  ///< MuJoCo loads the model, batchsim does not implement something in it
    kCapacity,     ///< larger than a documented limit, or more memory than there is
    kDevice,       ///< the device is missing, or one of its calls failed
  };

  Error(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

}  // namespace batchsim
