// Memory that remembers who touched it: what makes a missing barrier a failing test without a GPU.
//
// A team of 64 virtual lanes runs one lane after another between two barriers. An element keeps its last writer and its readers since
// the last barrier; two lanes on one element within a phase, one of them writing, is a race. So is a write outside range and leader,
// which on a GPU all 64 threads would do.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

namespace batchsim {

// what has been found, in all worlds and threads
struct RaceReport {
  long count = 0;
  std::vector<std::string> first;  // a line each for the first few
};
RaceReport take_races();  // and forget them

// Barriers by the place in the source that calls them: a mutation test leaves one out and looks whether races are found.
struct Site {
  std::string file;  // without its folder
  unsigned line = 0;
  bool operator<(const Site& o) const { return file != o.file ? file < o.file : line < o.line; }
};
void leave_out(const Site& barrier);  // of all that follow; a line of 0: none
std::vector<Site> take_barriers();    // those that were called since the last call, in order

struct Watch {
  static constexpr int kNobody = -1;  // outside range and leader: every lane
  static constexpr int kEverybody = -2;

  uint32_t epoch = 1;
  int lane = kNobody;
  std::source_location where;  // of the range or verb that runs

  struct Name {
    const char* field;
    const char* begin;
    const char* end;
  };
  std::vector<Name> names;

  void race(const char* what, const void* element, int other);
  void barrier(const std::source_location& at);
};
Watch& watch();  // of this thread

template <class T>
struct Watched {
  T value;
  uint32_t write_epoch, read_epoch;
  int16_t writer, reader;
};

template <class T>
class Ref {
 public:
  explicit Ref(Watched<T>* e) : e_(e) {}

  operator T() const {
    Watch& w = watch();
    if (e_->write_epoch == w.epoch && e_->writer != w.lane) w.race("read", e_, e_->writer);
    if (e_->read_epoch != w.epoch)
      e_->read_epoch = w.epoch, e_->reader = static_cast<int16_t>(w.lane);
    else if (e_->reader != w.lane)
      e_->reader = Watch::kEverybody;
    return e_->value;
  }
  const Ref& operator=(T x) const {
    Watch& w = watch();
    if (w.lane == Watch::kNobody) w.race("written by all lanes", e_, w.lane);
    if (e_->write_epoch == w.epoch && e_->writer != w.lane) w.race("written", e_, e_->writer);
    if (e_->read_epoch == w.epoch && e_->reader != w.lane) w.race("written", e_, e_->reader);
    e_->write_epoch = w.epoch, e_->writer = static_cast<int16_t>(w.lane);
    e_->value = x;
    return *this;
  }
  const Ref& operator=(const Ref& o) const { return *this = T(o); }
  const Ref& operator+=(T x) const { return *this = T(*this) + x; }
  const Ref& operator-=(T x) const { return *this = T(*this) - x; }
  const Ref& operator*=(T x) const { return *this = T(*this) * x; }
  const Ref& operator|=(T x) const { return *this = T(*this) | x; }

 private:
  Watched<T>* e_;
};

template <class T>
struct WatchedRow {
  using element = Watched<T>;
  element* p;
  Ref<T> operator[](int i) const { return Ref<T>(p + i); }
  Ref<T> operator()(int i, int) const { return Ref<T>(p + i); }  // lanes of a tile: there is one world
  WatchedRow operator+(std::ptrdiff_t i) const { return {p + i}; }
};

}  // namespace batchsim
