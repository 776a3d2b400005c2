// The simulator tests' own check macros: a failed check prints its place and both values, the test goes on, and main returns 1 at the end.
//
//   TEST(name) { CHECK_EQ(aclrtMalloc(&p, 4, policy), ACL_SUCCESS); REQUIRE(p != nullptr); }
//   TEST_MAIN()
//
// REQUIRE leaves the test at once. An argument on the command line runs only the tests whose name contains it.
#ifndef OPKIT_SIM_TESTS_CHECK_H_
#define OPKIT_SIM_TESTS_CHECK_H_

#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace opkit_test {

struct Case {
  const char *name;
  void (*run)();
};

struct Abandoned {};

inline std::vector<Case> &Cases() {
  static std::vector<Case> cases;
  return cases;
}

inline int &Failures() {
  static int failures = 0;
  return failures;
}

struct Registration {
  Registration(const char *name, void (*run)()) { Cases().push_back({name, run}); }
};

template <typename T>
std::string Shown(const T &value) {
  std::ostringstream out;
  out.precision(17);
  if constexpr (std::is_same_v<T, bool>) {
    out << (value ? "true" : "false");
  } else if constexpr (std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t>) {
    out << static_cast<int>(value);
  } else if constexpr (std::is_enum_v<T>) {
    out << static_cast<long long>(value);
  } else if constexpr (std::is_same_v<std::decay_t<T>, std::nullptr_t>) {
    out << "nullptr";
  } else {
    out << value;
  }
  return out.str();
}

inline void Fail(const char *file, int line, const std::string &what) {
  ++Failures();
  std::cerr << file << ":" << line << ": " << what << std::endl;
}

template <typename A, typename B>
bool IsEqual(const A &a, const B &b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && !std::is_same_v<A, bool> && !std::is_same_v<B, bool>) {
    // Signed against unsigned by value, so that a literal 0 needs no suffix.
    if constexpr (std::is_signed_v<A> != std::is_signed_v<B>) {
      if constexpr (std::is_signed_v<A>) {
        return a >= 0 && static_cast<unsigned long long>(a) == static_cast<unsigned long long>(b);
      } else {
        return b >= 0 && static_cast<unsigned long long>(a) == static_cast<unsigned long long>(b);
      }
    } else {
      return a == b;
    }
  } else {
    return a == b;
  }
}

template <typename A, typename B>
bool CheckEqual(const char *file, int line, const char *expression, const A &got, const B &expected) {
  if (IsEqual(got, expected)) {
    return true;
  }
  Fail(file, line, std::string(expression) + "\n  got:      " + Shown(got) + "\n  expected: " + Shown(expected));
  return false;
}

inline bool CheckContains(const char *file, int line, const std::string &text, const std::string &part) {
  if (text.find(part) != std::string::npos) {
    return true;
  }
  Fail(file, line, "text does not contain \"" + part + "\"; it is:\n" + text);
  return false;
}

inline int RunAll(int argc, char **argv) {
  int ran = 0;
  for (const Case &test : Cases()) {
    if (argc > 1 && std::strstr(test.name, argv[1]) == nullptr) {
      continue;
    }
    ++ran;
    const int before = Failures();
    try {
      test.run();
    } catch (const Abandoned &) {
    } catch (const std::exception &error) {
      Fail(test.name, 0, std::string("unexpected exception: ") + error.what());
    }
    std::cerr << (Failures() == before ? "ok    " : "FAIL  ") << test.name << std::endl;
  }
  if (ran == 0) {
    std::cerr << "no test has this name" << std::endl;
    return 2;
  }
  return Failures() == 0 ? 0 : 1;
}

}  // namespace opkit_test

#define TEST(name)                                                                       \
  static void opkit_test_##name();                                                       \
  static const opkit_test::Registration opkit_test_reg_##name(#name, opkit_test_##name); \
  static void opkit_test_##name()

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      opkit_test::Fail(__FILE__, __LINE__, "is false: " #condition); \
    }                                                                \
  } while (false)

#define REQUIRE(condition)                                           \
  do {                                                               \
    if (!(condition)) {                                              \
      opkit_test::Fail(__FILE__, __LINE__, "is false: " #condition); \
      throw opkit_test::Abandoned{};                                 \
    }                                                                \
  } while (false)

#define CHECK_EQ(got, expected) opkit_test::CheckEqual(__FILE__, __LINE__, #got " == " #expected, (got), (expected))

#define REQUIRE_EQ(got, expected)                                                                \
  do {                                                                                           \
    if (!opkit_test::CheckEqual(__FILE__, __LINE__, #got " == " #expected, (got), (expected))) { \
      throw opkit_test::Abandoned{};                                                             \
    }                                                                                            \
  } while (false)

#define CHECK_CONTAINS(text, part) opkit_test::CheckContains(__FILE__, __LINE__, (text), (part))

#define TEST_MAIN() \
  int main(int argc, char **argv) { return opkit_test::RunAll(argc, argv); }

#endif  // OPKIT_SIM_TESTS_CHECK_H_
