// The share of a wanted change of logits that a small change of queries and keys can make.
//
//   ReachableShare reachable;
//   std::optional<double> share = reachable.of(q, k, d_logits, sample, head);
//
// A small change of q and k changes the logits q k' by dq k' + q dk': whatever lies in the columns of q or in the
// columns of k. So of G = dL/d(q.k) everything is in reach but (1 - P_Q) G (1 - P_K), with the projections on these
// columns. 1 where a head is as wide as there are tokens.
#pragma once

#include <optional>
#include <vector>

#include "engine/observation.h"
#include "kernels/buffer.h"

namespace eureka {

class ReachableShare {
 public:
  // Of one sample's head; nothing where G is 0 or not finite.
  std::optional<double> of(const TensorView& q, const TensorView& k, const TensorView& d_logits, std::int64_t sample,
                           std::int64_t head);

 private:
  // An orthonormal basis of the columns of a matrix, one after the other.
  struct Basis {
    std::size_t rank = 0;
    std::vector<double> columns;  // rank x rows
  };
  static Basis basis_of(const TensorView& from, std::int64_t sample, std::int64_t head);
  // Rows are basis vectors (rank x tokens), or columns (tokens x rank), in a padded buffer.
  static void put(const Basis& basis, std::size_t tokens, bool as_columns, Buffer& to);

  Buffer g_, q_rows_, k_columns_, qg_, gk_, both_;
};

}  // namespace eureka
