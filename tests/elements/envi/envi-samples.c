/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples of all types of ENVI files. */
#include "cubes.h"
#include "format/envi.h"

#include <math.h>

/* ---- samples ---- */

typedef struct {
  CuvEnviType type;
  guint8 little[3][8]; /* three samples */
  gdouble values[3];
} TypeCase;

static const TypeCase cases[] = {
  { CUV_ENVI_U8, { { 0 }, { 1 }, { 255 } }, { 0, 1, 255 } },
  { CUV_ENVI_U16, { { 1, 0 }, { 0, 1 }, { 255, 255 } }, { 1, 256, 65535 } },
  { CUV_ENVI_I16, { { 1, 0 }, { 0, 0x80 }, { 255, 255 } }, { 1, -32768, -1 } },
  { CUV_ENVI_I32, { { 1 }, { 0, 0, 0, 0x80 }, { 255, 255, 255, 255 } },
      { 1, -2147483648.0, -1 } },
  { CUV_ENVI_U32, { { 1 }, { 0, 0, 0, 0x80 }, { 255, 255, 255, 255 } },
      { 1, 2147483648.0, 4294967296.0 } },
  { CUV_ENVI_F32,
      { { 0, 0, 0x80, 0x3f }, { 0, 0, 0xc0, 0xbf }, { 0, 0, 0x80, 0x7f } },
      { 1, -1.5, INFINITY } },
  { CUV_ENVI_F64,
      { { 0, 0, 0, 0, 0, 0, 0xf0, 0x3f }, { 0, 0, 0, 0, 0, 0, 0xf8, 0xbf },
          { 0, 0, 0, 0, 0, 0, 0xf0, 0x7f } },
      { 1, -1.5, INFINITY } },
};

static gdouble
sample_at (CuvCubeFormat format, const guint8 *at)
{
  gfloat real;

  if (format == CUV_CUBE_U8)
    return *at;
  if (format == CUV_CUBE_U16)
    return at[0] + 256 * at[1];
  memcpy (&real, at, sizeof real);
  return (gdouble) real;
}

static void
check_case (const TypeCase *c, gboolean big_endian)
{
  CuvEnvi envi = { .type = c->type, .big_endian = big_endian };
  gsize size = (gsize) cuv_envi_sample_size (c->type);
  CuvCubeFormat format = cuv_envi_format (c->type);
  guint8 in[1 + 3 * 8], out[1 + 3 * 8]; /* not aligned */

  for (gsize i = 0; i < 3; i++)
    for (gsize byte = 0; byte < size; byte++)
      in[1 + i * size + byte] =
          c->little[i][big_endian ? size - 1 - byte : byte];
  cuv_envi_convert (&envi, in + 1, out + 1, 3);
  for (gsize i = 0; i < 3; i++)
    fail_unless (
        sample_at (format, out + 1 + i * (gsize) cuv_cube_sample_size (format))
            == c->values[i],
        "type %d, sample %zu", (int) c->type, i);
  fail_unless (cuv_envi_is_plain (&envi)
      == (memcmp (in + 1, out + 1, 3 * size) == 0
          && size == (gsize) cuv_cube_sample_size (format)));
}

CUV_TEST (converts_samples)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    check_case (&cases[i], FALSE);
    check_case (&cases[i], TRUE);
  }
}
