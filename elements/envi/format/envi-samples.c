/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sample types, and their conversion to those of cubes. */
#include "format/envi.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "cubes are little endian: a big-endian CPU would have to convert them");

/* Neither input nor output needs to be aligned. */
#define DEFINE_CONVERT(name, bits, type, target)                               \
  static void name (                                                           \
      const uint8_t *in, uint8_t *out, size_t n, bool big_endian)              \
  {                                                                            \
    for (size_t i = 0; i < n; i++) {                                           \
      uint##bits##_t word;                                                     \
      type value;                                                              \
      target result;                                                           \
                                                                               \
      memcpy (&word, in + i * sizeof word, sizeof word);                       \
      if (big_endian)                                                          \
        word = __builtin_bswap##bits (word);                                   \
      memcpy (&value, &word, sizeof value);                                    \
      result = (target) value;                                                 \
      memcpy (out + i * sizeof result, &result, sizeof result);                \
    }                                                                          \
  }

DEFINE_CONVERT (convert_u16, 16, uint16_t, uint16_t)
DEFINE_CONVERT (convert_i16, 16, int16_t, float)
DEFINE_CONVERT (convert_i32, 32, int32_t, float)
DEFINE_CONVERT (convert_u32, 32, uint32_t, float)
DEFINE_CONVERT (convert_f32, 32, float, float)
DEFINE_CONVERT (convert_f64, 64, double, float)

static const struct {
  int size;
  void (*convert) (const uint8_t *in, uint8_t *out, size_t n, bool big_endian);
} types[] = {
  [CUV_ENVI_U8] = { 1, NULL }, /* bytes are never converted */
  [CUV_ENVI_I16] = { 2, convert_i16 },
  [CUV_ENVI_U16] = { 2, convert_u16 },
  [CUV_ENVI_I32] = { 4, convert_i32 },
  [CUV_ENVI_U32] = { 4, convert_u32 },
  [CUV_ENVI_F32] = { 4, convert_f32 },
  [CUV_ENVI_F64] = { 8, convert_f64 },
};

int
cuv_envi_sample_size (CuvEnviType type)
{
  return type < sizeof types / sizeof *types ? types[type].size : 0;
}

uint64_t
cuv_envi_data_size (const CuvEnvi *envi)
{
  return (uint64_t) envi->samples * (uint64_t) envi->lines
      * (uint64_t) envi->bands * (uint64_t) cuv_envi_sample_size (envi->type);
}

CuvCubeFormat
cuv_envi_format (CuvEnviType type)
{
  return type == CUV_ENVI_U8 ? CUV_CUBE_U8
      : type == CUV_ENVI_U16 ? CUV_CUBE_U16
                             : CUV_CUBE_F32;
}

bool
cuv_envi_is_plain (const CuvEnvi *envi)
{
  return envi->type == CUV_ENVI_U8
      || (!envi->big_endian
          && (envi->type == CUV_ENVI_U16 || envi->type == CUV_ENVI_F32));
}

void
cuv_envi_convert (const CuvEnvi *envi, const void *in, void *out, size_t n)
{
  if (cuv_envi_is_plain (envi))
    memcpy (out, in, n * (size_t) types[envi->type].size);
  else
    types[envi->type].convert (in, out, n, envi->big_endian);
}
