// How many trials this machine runs side by side without one slowing the other.
#pragma once

namespace eureka {

// Physical cores this process may run on: hyperthreads of one core count once, cores outside the affinity mask not at
// all. At least 1.
int usable_cores();

}  // namespace eureka
