/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pipelines whose results are compared: each element that analyses frames,
 * with its main methods, on formats and sizes that differ. If a result is meant
 * to change, take the new rows from --rows. */
#include "verify.h"

#define VIDEO(format, width, height)                                           \
  "video/x-raw,format=" format ",width=" #width ",height=" #height             \
  ",framerate=25/1"
#define CUBE(format)                                                           \
  "video/x-spectral,format=" format                                            \
  ",width=64,height=48,bands=12,interleave=bip,framerate=25/1"

#define FIND_BOARD "waldboostdetect model=cuvision-xcorner.xml label=corner "
#define FIND_MODEL "waldboostdetect model=./" VERIFY_MODEL " "
#define ZONES                                                                  \
  "visionzones hysteresis=1 heat-cell=40 heat-interval=0 zones=\"{"            \
  "\\\"zones\\\": [{\\\"name\\\": \\\"left\\\", \\\"polygon\\\": "             \
  "[[0, 0], [0.3, 0], [0.3, 1], [0, 1]]}, "                                    \
  "{\\\"name\\\": \\\"middle\\\", \\\"line\\\": [[0.3, 0], [0.3, 1]]}]}\""

const VerifyCase verify_cases[] = {
  { "corners", .main = { VIDEO ("NV12", 320, 240), 6, FIND_BOARD } },
  { "corners-turned",
      .main = { VIDEO ("RGB", 241, 187), 4,
          FIND_BOARD "rotations=-35,0 upscale=2 min-neighbors=8" } },
  { "corners-sizes",
      .main = { VIDEO ("YUY2", 320, 240), 4,
          FIND_BOARD
          "scan=opencv scale-factor=1.2 grouping=nms arithmetic=float" } },
  { "digits",
      .main = { VIDEO ("BGRx", 320, 240), 4,
          "waldboostdetect model=cuvision-digit.xml final-threshold=-12 "
          "min-neighbors=0" } },
  { "model-lrd",
      .main = { VIDEO ("NV12", 160, 120), 4, FIND_MODEL "final-threshold=60" },
      .model = MODEL_LRD },
  { "model-lrp",
      .main = { VIDEO ("RGB", 160, 120), 4, FIND_MODEL "final-threshold=60" },
      .model = MODEL_LRP },
  { "model-haar",
      .main = { VIDEO ("I420", 160, 120), 4, FIND_MODEL "min-neighbors=1" },
      .model = MODEL_HAAR },
  { "model-channels", .main = { VIDEO ("BGRA", 160, 120), 4, FIND_MODEL },
      .model = MODEL_CHANNELS },
  { "lines", .main = { VIDEO ("RGB", 320, 240), 6, "houghlines" } },
  { "lines-near-edges",
      .main = { VIDEO ("UYVY", 319, 241), 4,
          "houghlines method=gather nms=square neighborhood=9 norm=l2" } },
  { "lines-parallel",
      .main = { VIDEO ("I420", 320, 240), 4, "houghlines method=pclines" } },
  { "segments",
      .main = { VIDEO ("NV12", 320, 240), 6, "houghlines segments=true" } },
  { "track",
      .main = { VIDEO ("RGB", 320, 240), 12,
          "rcdtrack object-initial-x=30 object-initial-y=150 "
          "object-initial-width=44 object-initial-height=36" } },
  { "track-covariance",
      .main = { VIDEO ("BGR", 320, 240), 8,
          "rcdtrack object-initial-x=30 object-initial-y=150 "
          "object-initial-width=44 object-initial-height=36 "
          "correlation=false metric=forstner update=riemann" } },
  { "motion", .main = { VIDEO ("RGBx", 320, 240), 12, "visionmotion" } },
  { "motion-grey",
      .main = { VIDEO ("NV12", 321, 240), 12,
          "visionmotion color=false shadows=false min-area=20" } },
  { "motion-average",
      .main = { VIDEO ("I420", 320, 240), 12,
          "visionmotion method=average scale=2 rate=0" } },
  { "zones",
      .main = { VIDEO ("NV12", 320, 240), 16,
          "visionmotion ! visiontrack ! " ZONES } },
  { "texture", .main = { VIDEO ("RGB", 200, 150), 4, "ldpdescriptor" } },
  { "texture-regions",
      .main = { VIDEO ("NV12", 320, 240), 4,
          FIND_BOARD "! ldpdescriptor region=roi-list order=2 bins=uniform "
                     "descriptor-width=32 descriptor-height=32 grid=2" } },
  { "retrieval",
      .main = { VIDEO ("NV12", 320, 240), 6,
          "ldpretrieve index=frames.ldp k=3 orientations=all" },
      .before = { { VIDEO ("RGB", 320, 240), 6,
          "ldpindexsink location=frames.ldp" } } },
  { "components", .main = { CUBE ("U16LE"), 4, "spectralpca" },
      .gpu_tolerance = 1e-3 },
  { "components-video",
      .main = { VIDEO ("RGB", 160, 120), 6,
          "spectralpca mode=second-moments mapping=percentile" },
      .gpu_tolerance = 1e-3 },
  { "factors",
      .main = { CUBE ("F32LE"), 2, "spectralntf rank=3 iterations=10" },
      .gpu_tolerance = 1e-3 },
  { "factors-video",
      .main = { VIDEO ("GRAY8", 96, 64), 8,
          "spectralntf window=4 hop=4 rank=3 iterations=10" },
      .gpu_tolerance = 1e-3 },
  { "unmixing",
      .main = { CUBE ("U8"), 2,
          "spectralntf factorisation=matrix algorithm=hals rank=3 "
          "iterations=10 init=nfindr" },
      .gpu_tolerance = 1e-3 },
  { "reflectance",
      .main = { CUBE ("U16LE"), 4,
          "spectralreflectance white=white.hdr dark=dark.hdr" },
      .before = { { CUBE ("U16LE"), 1, "envisink location=white.hdr" },
          { CUBE ("U8"), 1, "envisink location=dark.hdr" } },
      .cpu_only = TRUE },
  { "bands", .main = { CUBE ("U16LE"), 4, "spectralrgb bands=10,6,2" },
      .cpu_only = TRUE },
};
const guint verify_n_cases = G_N_ELEMENTS (verify_cases);

const VerifyCase *
verify_case_find (const gchar *name)
{
  for (guint i = 0; i < verify_n_cases; i++) {
    if (g_str_equal (verify_cases[i].name, name))
      return &verify_cases[i];
  }
  return NULL;
}
