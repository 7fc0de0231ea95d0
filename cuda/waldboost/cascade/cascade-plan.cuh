// SPDX-License-Identifier: LGPL-2.1-or-later
// The plan of an OpenCV cascade's scan (host code): the shape of its tiles, the
// format of its nodes, its tables, and the arguments of its kernels. Which
// kernels run is decided in cascade-scanner.cu.
#ifndef CUV_WALDBOOST_CASCADE_PLAN_CUH
#define CUV_WALDBOOST_CASCADE_PLAN_CUH

#include <type_traits>
#include "waldboost/cascade/host-tables.cuh"

// maximum number of stumps in a stage with a table in CuvCascade.passes
#define CUV_CASCADE_MAX_TABLED 12

template <typename Node> struct CuvCascadePlan {
  using HostNode = typename std::decay<decltype (*nodes_of (
      nullptr, (Node *) nullptr))>::type;
  static const bool haar = Node::haar;

  explicit CuvCascadePlan (const CuvWaldboostModel *original)
      : model (*original)
  {
    const auto *nodes = nodes_of (&model, (Node *) nullptr);

    for (int i = 0; i < model.n_nodes; i++)
      source.push_back (nodes[i]);
    weak.assign (model.weak, model.weak + model.n_weak);
    leaves.assign (model.leaves, model.leaves + model.n_leaves);
    exact = sums_are_exact (&model);
    for (int i = 0; i < model.n_stages; i++)
      add_stage (model.stage_first[i], model.stage_first[i + 1]);
    passes.push_back (0); // a table is never empty
    shared_limit = cuv_cuda_attribute (cudaDevAttrMaxSharedMemoryPerBlockOptin);
    shared_of_multiprocessor =
        cuv_cuda_attribute (cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  }
  ~CuvCascadePlan ()
  {
    cuv_buffer_clear (&traces);
    cuv_buffer_clear (&passed);
    cuv_buffer_clear (&no_skip);
  }

  int
  set_plan (const CuvWaldboostPlan &plan, CuvPyramid *pyramid,
      CuvPyramidTables *tables)
  {
    CuvPyramidNeeds needs = {};
    int pitch;

    skip = plan.skip;
    has_ranges = haar && plan.ranges != nullptr;
    paired = !haar && (int64_t) model.max_block_area * 255 <= UINT16_MAX
        && model.stumps && decides_pairs (stages[0]);
    choose_tile_shape (plan);
    if (paired && (!tiled || !pairs_fit ())) {
      paired = false;
      choose_tile_shape (plan);
    }
    needs.sums = !paired;
    needs.squares = haar;
    needs.tilted = model.tilted;
    needs.common_pitch = !tiled;
    needs.in_parts = !model.tilted; // tilted images are made for all levels at
                                    // once
    cuv_pyramid_set_plan (
        pyramid, tables, needs, &plan, shape.image_elements / shape.pitch[0]);
    pitch = pyramid->host_levels[0].pitch;
    const int size = CUV_CASCADE_ELEMENT_BYTES;
    CuvFeatureLayout layouts[2] = { { false, 0, tiled ? shape.pitch[0] : pitch,
                                        size },
      { true, tiled ? shape.half : pitch / 2, tiled ? shape.pitch[1] : pitch,
          size } };
    weak_at = tables->add (weak);
    leaves_at = tables->add (leaves);
    stages_at = tables->add (stages);
    passes_at = tables->add (passes);
    if (has_ranges)
      ranges_at = tables->add (
          std::vector<CuvRange> (plan.ranges, plan.ranges + plan.n_ranges));
    tiles_at = tables->add (tile_levels (*pyramid));
    if constexpr (!haar)
      lookup_at = tables->add (lay_out_lookup (source));
    add_nodes (layouts, tables);
    plan_pairs (layouts, tables);
    return paired ? reserve_traces () : reserve_bits (*pyramid);
  }

  void
  add_stage (int first, int end)
  {
    CuvCascadeStage stage = { first, end, weak[end - 1].threshold, -1 };

    if (Node::tabled && model.stumps && end - first <= CUV_CASCADE_MAX_TABLED) {
      std::vector<float> left, right;

      for (int k = first; k < end; k++) {
        const HostNode &node = source[weak[k].first_node];

        left.push_back (leaves[weak[k].first_leaf - node.left]);
        right.push_back (leaves[weak[k].first_leaf - node.right]);
      }
      stage.passes = (int32_t) passes.size ();
      tabulate (&passes, left, right, stage.threshold);
    }
    stages.push_back (stage);
  }

  // Returns whether a stage of a paired model can be evaluated for pairs of
  // windows, provided that all stages before it are.
  static bool
  decides_pairs (const CuvCascadeStage &stage)
  {
    return stage.passes >= 0 && stage.end <= CUV_CASCADE_PAIR_WEAK;
  }

  // Returns whether make_pair_tile() supports the tiles.
  bool
  pairs_fit () const
  {
    return shape.pitch[0] <= CUV_CASCADE_PAIR_COLUMNS
        && 2 * shape.half <= CUV_CASCADE_PAIR_COLUMNS;
  }

  // Chooses the tallest tile of which four fit a multiprocessor, otherwise one
  // of 8 rows if that fits once, otherwise none (tiled is false).
  void
  choose_tile_shape (const CuvWaldboostPlan &plan)
  {
    const int size = CUV_CASCADE_ELEMENT_BYTES, per_16_bytes = 16 / size;
    const int images = 1 + (model.tilted != 0);
    const int columns = paired ? CUV_CASCADE_PAIR_X : CUV_CASCADE_TILE_X;
    int widest = 1;

    for (int i = 0; i < plan.n_levels; i++)
      widest = std::max (widest, plan.levels[i].step);
    // static shared memory of the kernels, and what CUDA reserves per block
    const int of_list = haar
        ? CUV_CASCADE_MAX_HAAR_Y * (sizeof (uint16_t) + sizeof (float))
        : CUV_CASCADE_MAX_TILE_Y * sizeof (uint16_t);
    const int lists_bytes = 1024
        + (paired ? (int) sizeof (CuvCascadePairMemory)
                  : 2 * CUV_CASCADE_TILE_X * of_list);
    shape.window_height = model.window_height;
    shape.half = (columns + model.window_width / 2 + 1 + per_16_bytes - 1)
        / per_16_bytes * per_16_bytes;
    shape.pitch[0] = ((columns - 1) * (widest == 2 ? 1 : widest)
                         + model.window_width + 1 + per_16_bytes - 1)
        / per_16_bytes * per_16_bytes;
    shape.pitch[1] = 2 * shape.half;
    // windows below each other are an odd multiple of 4 banks of shared memory
    // apart, 8 at step 2, which avoids bank conflicts of clustered survivors
    for (int s = 0; s < 2 && paired; s++)
      shape.pitch[s] |= 4;
    fixed =
        haar && model.window_width <= CUV_CASCADE_FIXED_WINDOW && widest <= 2;
    if (fixed) {
      shape.pitch[0] = cuv_cascade_fixed_pitch (false);
      shape.pitch[1] = cuv_cascade_fixed_pitch (true);
      shape.half = shape.pitch[1] / 2;
    }
    tiled = false;
    for (int rows = haar ? CUV_CASCADE_MAX_HAAR_Y : CUV_CASCADE_MAX_TILE_Y;
         rows >= 8 && !tiled; rows /= 2) {
      int tall[2] = { (rows - 1) * (widest == 2 ? 1 : widest), (rows - 1) * 2 };
      int elements = 0, largest = 0;

      for (int s = 0; s < 2; s++) {
        int n = (tall[s] + model.window_height + 1) * shape.pitch[s];

        largest = std::max (largest, n);
        if (s == 0)
          // size of tiles with unsplit columns
          unsplit_bytes = n * (size_t) size;
        if (s == 0 || widest == 2)
          elements = std::max (elements, n);
      }
      shape.rows = rows;
      shape.image_elements = (elements + 63) / 64 * 64;
      shared_bytes = (size_t) shape.image_elements
          * (size + (images > 1 ? sizeof (uint32_t) : 0));
      tiled = (int) shared_bytes
          <= (rows > 8 ? shared_of_multiprocessor / 4 : shared_limit)
              - lists_bytes;
      // LBP nodes in tiles are always packed, so their offsets must fit 16
      // bits, in the split layout too
      tiled &= haar || largest <= UINT16_MAX;
      fixed &= rows > 8; // decide_tile() evaluates rows in pairs
    }
    if (!tiled) {
      shape.rows = haar ? CUV_CASCADE_MAX_HAAR_Y : CUV_CASCADE_MAX_TILE_Y;
      shared_bytes = 0;
      fixed = false;
    }
  }

  std::vector<Node>
  lay_out (const CuvFeatureLayout &layout) const
  {
    // without tiles, kernels for trees evaluate the stumps
    const bool stumps = model.stumps && tiled;
    std::vector<Node> nodes (source.size ());

    for (size_t i = 0; i < source.size (); i++) {
      const HostNode &node = source[i];

      nodes[i] = Node{};
      lay_out_node (&nodes[i], node, layout);
      nodes[i].number = (int32_t) i;
      nodes[i].left.child = node.left;
      nodes[i].right.child = node.right;
      if (stumps) {
        nodes[i].left.leaf = leaves[weak[i].first_leaf - node.left];
        nodes[i].right.leaf = leaves[weak[i].first_leaf - node.right];
      }
    }
    if constexpr (haar) {
      for (const CuvCascadeStage &stage : stages) {
        if (stumps && exact)
          sort_stumps (&nodes[stage.first], nodes.data () + stage.end);
      }
    }
    return nodes;
  }

  bool
  can_pack (
      const CuvFeatureLayout &layout, const std::vector<Node> &nodes) const
  {
    if (!tiled
        || (haar && model.window_width * model.window_height * 255 >= 1 << 23))
      return false;
    return survive_packing (nodes, layout);
  }

  void
  plan_pairs (const CuvFeatureLayout layouts[2], CuvPyramidTables *tables)
  {
    pairs = {};
    if constexpr (!haar) {
      // the last stage is not paired, because its sum is the score
      const int max_stages =
          std::max (1, std::min (CUV_CASCADE_PAIR_STAGES, model.n_stages - 1));

      while (
          paired && pairs.n < max_stages && decides_pairs (stages[pairs.n])) {
        pairs.stages[pairs.n] = stages[pairs.n];
        pairs.n++;
      }
      for (int s = 0; s < 2; s++) {
        for (int k = 0; pairs.n > 0 && k < pairs.stages[pairs.n - 1].end; k++)
          pairs.nodes[s][k] = lay_out_pair (source[k], layouts[s]);
      }
      if (pairs.n > 0)
        patterns_at = tables->add (lay_out_patterns (source));
    }
  }

  void
  add_nodes (const CuvFeatureLayout layouts[2], CuvPyramidTables *tables)
  {
    const std::vector<Node> nodes[2] = { lay_out (layouts[0]),
      lay_out (layouts[1]) };

    packed = can_pack (layouts[0], nodes[0]) && can_pack (layouts[1], nodes[1]);
    first.stage = stages[0];
    first.n = model.stumps && stages[0].end <= CUV_CASCADE_FIRST_WEAK
        ? stages[0].end
        : 0;
    for (int s = 0; s < 2; s++) {
      std::copy_n (nodes[s].begin (), first.n, first.nodes[s]);
      if (packed)
        add_packed (
            tables, nodes[s], layouts[s], &nodes_at[s], &branches_at[s]);
      else
        nodes_at[s] = add_columns (tables, nodes[s]);
    }
  }

  std::vector<CuvPyramidTile>
  tile_levels (const CuvPyramid &pyramid)
  {
    std::vector<CuvPyramidTile> tiles;

    for (int i = 0; i < pyramid.n_levels; i++) {
      const CuvWaldboostLevel &level = pyramid.host_levels[i].plan;

      for (int y = 0; y < level.n_y; y += shape.rows) {
        for (int x = 0; x < level.n_x; x += CUV_CASCADE_TILE_X)
          tiles.push_back (CuvPyramidTile{ i, x, y });
      }
    }
    n_split =
        (int) (std::stable_partition (tiles.begin (), tiles.end (),
                   [&] (const CuvPyramidTile &tile) {
                     return cuv_is_split (pyramid.host_levels[tile.level]);
                   })
            - tiles.begin ());
    n_tiles = (int) tiles.size ();
    return tiles;
  }

  int
  reserve_traces ()
  {
    const std::vector<CuvCascadeTrace> none (std::max (n_tiles, 1));

    return cuv_buffer_upload (
        &traces, none.data (), none.size () * sizeof none[0]);
  }

  int
  reserve_bits (const CuvPyramid &pyramid)
  {
    const CuvPyramidLevel &last = pyramid.host_levels.back ();
    size_t bytes = sizeof (uint32_t)
        * (last.first_word + (size_t) last.words * last.plan.n_y + 1);

    return cuv_buffer_reserve (&passed, bytes) == 0
            && (!haar || cuv_buffer_reserve (&no_skip, bytes) == 0)
        ? 0
        : -1;
  }

  // ---- arguments of the kernels ----

  // Tiles first to end - 1.
  struct TileRange {
    int first, end;

    int
    n () const
    {
      return end - first;
    }
  };

  TileRange
  tiles_of (int levels) const
  {
    return { levels == CUV_PYRAMID_OTHER_LEVELS ? n_split : 0,
      levels == CUV_PYRAMID_SPLIT_LEVELS ? n_split : n_tiles };
  }

  void
  find_nodes (CuvCascadeWideNodes<Node> *nodes, const CuvPyramid &pyramid,
      bool split) const
  {
    *nodes = { pyramid.table<uint4> (nodes_at[split]),
      (int32_t) source.size () };
  }

  void
  find_nodes (CuvCascadePackedNodes<Node> *nodes, const CuvPyramid &pyramid,
      bool split) const
  {
    *nodes = { pyramid.table<typename Node::Packed> (nodes_at[split]),
      pyramid.table<uint2> (branches_at[split]),
      shape.pitch[split] * CUV_CASCADE_ELEMENT_BYTES };
  }

  template <typename Nodes>
  CuvCascade<Nodes>
  device_cascade (const CuvPyramid &pyramid) const
  {
    CuvCascade<Nodes> cascade = { model.n_stages, model.window_width,
      model.window_height, skip, exact,
      pyramid.table<CuvCascadeStage> (stages_at),
      pyramid.table<CuvWeak> (weak_at), pyramid.table<float> (leaves_at),
      pyramid.table<uint32_t> (passes_at), pyramid.table<uint32_t> (lookup_at),
      {} };

    for (int s = 0; s < 2; s++)
      find_nodes (&cascade.nodes[s], pyramid, s);
    return cascade;
  }

  CuvCascadeImages
  images (const CuvPyramid &pyramid) const
  {
    return { pyramid.image<void> (CUV_WALDBOOST_IMAGE_SUMS),
      pyramid.image<const uint32_t> (CUV_WALDBOOST_IMAGE_SQUARES),
      model.tilted ? pyramid.image<const uint32_t> (CUV_WALDBOOST_IMAGE_TILTED)
                   : nullptr,
      has_ranges ? pyramid.table<CuvRange> (ranges_at) : nullptr };
  }

  CuvWaldboostModel model;      // its pointers may dangle: use the copies below
  std::vector<HostNode> source; // nodes of the model
  std::vector<CuvWeak> weak;
  std::vector<float> leaves;
  std::vector<CuvCascadeStage> stages;
  std::vector<uint32_t> passes;
  // exact: sums are exact in any order; tiled: tiles are in shared memory;
  // paired: windows are scanned by pair_kernel(); fixed: tiles have
  // cuv_cascade_fixed_pitch(); packed: nodes are packed
  bool exact, tiled, paired, fixed, packed;
  int shared_limit, shared_of_multiprocessor; // bytes
  bool has_ranges = false;
  int skip, n_tiles;
  int n_split; // number of tiles with split columns, which come first
  size_t shared_bytes, unsplit_bytes; // of a tile; with unsplit columns
  CuvCascadeTileShape shape;
  CuvCascadeFirstStage<Node> first = {};
  CuvCascadePairStages pairs = {};
  CuvBuffer traces = {};               // paired: a CuvCascadeTrace per tile
  unsigned n_scans = 0;                // numbers the scans in traces
  CuvBuffer passed = {}, no_skip = {}; // bit masks, see decide_tile()
  // offsets in the plan's tables
  size_t weak_at, leaves_at, stages_at, passes_at, tiles_at;
  size_t lookup_at = 0; // LBP only
  size_t patterns_at, ranges_at = 0;
  size_t nodes_at[2],
      branches_at[2]; // [0]: unsplit, [1]: split columns
};

#endif
