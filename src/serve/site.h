// What stands at which address: the page, its parts, and everything the API answers.
#pragma once

#include "serve/api.h"

namespace eureka::serve {

// The files of the page when the program was built with them; else the plain index takes its place.
Answer site_answer(Api& api, const RequestTarget& target);

}  // namespace eureka::serve
