#include "kernels/gemm.h"

#include "kernels/reference.h"

namespace eureka {
namespace {

const std::vector<ProductSize> kSizes = {{1, 1, 1},   {6, 16, 8},  {7, 17, 5},   {5, 3, 33},   {13, 24, 16},
                                         {17, 9, 64}, {97, 31, 2}, {101, 40, 7}, {200, 50, 19}};

// Factors of one product, and the product in double.
struct Product {
  explicit Product(ProductSize size)
      : a(size.rows, size.depth, "a"), w(size.columns, size.depth, "w"), c(size.rows, size.columns) {
    packed = Buffer(round_up(size.columns) * size.depth);
    pack_transposed(w.data(), w.rows, w.columns, w.stride, packed.data());
  }
  MatrixB b() const { return MatrixB::packed(packed.data(), a.columns); }
  MatrixC to() { return {c.data(), c.stride}; }
  MatrixA from() { return {a.data(), a.stride}; }
  double exact(std::size_t i, std::size_t j) const {
    double sum = 0;
    for (std::size_t k = 0; k < a.columns; ++k) sum += a(i, k) * w(j, k);
    return sum;
  }

  Matrix a, w, c;
  Buffer packed;
};

TEST(Gemm, EveryEpilogueMatchesThePlainLoop) {
  for_every_instruction_set([] {
    for (const ProductSize size : kSizes) {
      Product p(size);
      Matrix bias(1, size.columns, "bias"), residual(size.rows, size.columns, "residual", 16);
      Matrix noise(size.rows, size.columns, "noise"), slope(size.rows, size.columns);
      const auto biased = [&](std::size_t i, std::size_t j) { return p.exact(i, j) + bias(0, j); };
      multiply(size, p.from(), p.b(), p.to());
      expect_matrix(
          p.c, [&](auto i, auto j) { return p.exact(i, j); }, 1e-5);
      multiply_accumulate(size, p.from(), p.b(), p.to());
      expect_matrix(
          p.c, [&](auto i, auto j) { return 2 * p.exact(i, j); }, 1e-5);
      multiply_add_bias(size, p.from(), p.b(), bias.data(), p.to());
      expect_matrix(p.c, biased, 1e-5);
      multiply_add_branch(size, p.from(), p.b(), bias.data(), {residual.data(), residual.stride}, {}, p.to());
      expect_matrix(
          p.c, [&](auto i, auto j) { return biased(i, j) + residual(i, j); }, 1e-5);
      multiply_add_branch(size, p.from(), p.b(), bias.data(), {residual.data(), residual.stride},
                          {noise.data(), noise.stride}, p.to());
      expect_matrix(
          p.c, [&](auto i, auto j) { return biased(i, j) * noise(i, j) + residual(i, j); }, 1e-5);
      multiply_gelu(size, p.from(), p.b(), bias.data(), p.to(), slope.data());
      expect_matrix(
          p.c, [&](auto i, auto j) { return biased(i, j) * normal_below(biased(i, j)); }, 1e-5);
      const auto derivative = [&](std::size_t i, std::size_t j) {
        return normal_below(biased(i, j)) + biased(i, j) * normal_density(biased(i, j));
      };
      expect_matrix(slope, derivative, 1e-5, false);
      multiply_relu(size, p.from(), p.b(), bias.data(), p.to(), slope.data());
      expect_matrix(
          p.c, [&](auto i, auto j) { return std::max(biased(i, j), 0.0); }, 1e-5);
      expect_matrix(
          slope, [&](auto i, auto j) { return p.c(i, j) > 0 ? 1.0 : 0.0; }, 0, false);
      multiply_by_slope(size, p.from(), p.b(), noise.data(), p.to());
      expect_matrix(
          p.c, [&](auto i, auto j) { return p.exact(i, j) * noise(i, j); }, 1e-5);
    }
  });
}

TEST(Gemm, GeluIsExactToFloatAccuracy) {
  for_every_instruction_set([] {
    // Depth 1 with a factor of one: the product is x itself.
    const std::size_t count = 4001;
    Matrix x(count, 1), y(count, 1), slope(count, 1), one(1, 1), bias(1, 1);
    one.at(0, 0) = 1;
    for (std::size_t i = 0; i < count; ++i) x.at(i, 0) = static_cast<float>(i) * 0.01F - 20;
    Buffer packed(kPanel);
    pack_transposed(one.data(), 1, 1, one.stride, packed.data());
    multiply_gelu({count, 1, 1}, {x.data(), x.stride}, MatrixB::packed(packed.data(), 1), bias.data(),
                  {y.data(), y.stride}, slope.data());
    for (std::size_t i = 0; i < count; ++i) {
      const double v = x(i, 0);
      ASSERT_NEAR(y(i, 0), v * normal_below(v), 2e-7 * std::max(1.0, std::abs(v)));
      ASSERT_NEAR(slope(i, 0), normal_below(v) + v * normal_density(v), 4e-7);
    }
  });
}

TEST(Gemm, GradientsMatchThePlainLoop) {
  for_every_instruction_set([] {
    for (const ProductSize size : kSizes) {
      // dx = dy W, through the other packing, as the lower part of a taller factor.
      Matrix dy(size.rows, size.columns, "dy"), w(size.columns, size.depth, "w"), dx(size.rows, size.depth);
      const std::size_t above = 3, depth = size.columns + above + 2;
      Buffer packed(depth * round_up(size.depth));
      pack(w.data(), w.rows, w.columns, w.stride, above, depth, packed.data());
      MatrixB b = MatrixB::packed(packed.data(), depth);
      b.data += above * kPanel;
      multiply({size.rows, size.depth, size.columns}, {dy.data(), dy.stride}, b, {dx.data(), dx.stride});
      const auto exact_dx = [&](std::size_t i, std::size_t k) {
        double sum = 0;
        for (std::size_t j = 0; j < size.columns; ++j) sum += dy(i, j) * w(j, k);
        return sum;
      };
      expect_matrix(dx, exact_dx, 1e-5);
      // dW += dy^T x
      Matrix x(size.rows, size.depth, "x"), dw(size.columns, size.depth, "before"),
          before(size.columns, size.depth, "before");
      multiply_transposed_accumulate({size.columns, size.depth, size.rows}, {dy.data(), dy.stride},
                                     MatrixB::plain(x.data(), x.stride), {dw.data(), dw.stride});
      const auto exact_dw = [&](std::size_t j, std::size_t k) {
        double sum = before(j, k);
        for (std::size_t i = 0; i < size.rows; ++i) sum += dy(i, j) * x(i, k);
        return sum;
      };
      expect_matrix(dw, exact_dw, 1e-5);
      Matrix rows(size.rows, size.columns);
      Matrix a(size.rows, size.depth, "a");
      multiply_rows(size.rows, size.columns, size.depth, {a.data(), a.stride}, {w.data(), w.stride},
                    {rows.data(), rows.stride});
      const auto exact_rows = [&](std::size_t i, std::size_t j) {
        double sum = 0;
        for (std::size_t k = 0; k < size.depth; ++k) sum += a(i, k) * w(j, k);
        return sum;
      };
      expect_matrix(rows, exact_rows, 1e-5);
    }
  });
}

// Wide gradients copy their left factor first; halves of one are narrow enough not to.
TEST(Gemm, WideGradientsHaveTheBitsOfTheirHalves) {
  for_every_instruction_set([] {
    for (const ProductSize size : {ProductSize{100, 272, 197},
                                   {7, 256, 256},
                                   {256, 256, 31},
                                   {97, 256, 257},
                                   {103, 256, 9},
                                   {108, 256, 5},
                                   {300, 256, 7},
                                   {535, 256, 3}}) {
      Matrix dy(size.depth, size.rows, "dy"), x(size.depth, size.columns, "x");
      Matrix whole(size.rows, size.columns, "before"), halves(size.rows, size.columns, "before"),
          before(size.rows, size.columns, "before");
      multiply_transposed_accumulate(size, {dy.data(), dy.stride}, MatrixB::plain(x.data(), x.stride),
                                     {whole.data(), whole.stride});
      for (const std::size_t first : {std::size_t{0}, std::size_t{128}})
        multiply_transposed_accumulate({size.rows, first == 0 ? 128 : size.columns - 128, size.depth},
                                       {dy.data(), dy.stride}, MatrixB::plain(x.data() + first, x.stride),
                                       {halves.data() + first, halves.stride});
      const auto exact = [&](std::size_t j, std::size_t k) {
        double sum = before(j, k);
        for (std::size_t i = 0; i < size.depth; ++i) sum += dy(i, j) * x(i, k);
        return sum;
      };
      expect_matrix(whole, exact, 1e-5);
      for (std::size_t j = 0; j < size.rows; ++j)
        for (std::size_t k = 0; k < size.columns; ++k) ASSERT_EQ(whole(j, k), halves(j, k)) << j << " " << k;
    }
  });
}

// Tiles of six and five rows are written out for some instruction sets, a row alone never is.
TEST(Gemm, ARowDoesNotDependOnItsNeighbors) {
  for_every_instruction_set([] {
    for (const std::size_t depth : {std::size_t{3}, std::size_t{31}, std::size_t{40}}) {
      const ProductSize size{23, 20, depth};
      Product whole(size), part(size);
      Matrix dy(depth, size.rows, "dy"), x(depth, size.columns, "x"), together(size.rows, size.columns),
          alone(1, size.columns);
      multiply(size, whole.from(), whole.b(), whole.to());
      multiply_transposed_accumulate(size, {dy.data(), dy.stride}, MatrixB::plain(x.data(), x.stride),
                                     {together.data(), together.stride});
      for (std::size_t row = 0; row < size.rows; ++row) {
        multiply({1, size.columns, depth}, {part.a.data() + row * part.a.stride, part.a.stride}, part.b(), part.to());
        alone = Matrix(1, size.columns);
        multiply_transposed_accumulate({1, size.columns, depth}, {dy.data() + row, dy.stride},
                                       MatrixB::plain(x.data(), x.stride), {alone.data(), alone.stride});
        for (std::size_t j = 0; j < size.columns; ++j) {
          ASSERT_EQ(whole.c(row, j), part.c(0, j)) << row << " " << j;
          ASSERT_EQ(together(row, j), alone(0, j)) << row << " " << j;
        }
      }
    }
  });
}

}  // namespace
}  // namespace eureka
