/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Headers of ENVI files, and samples as they say. A header is text beside a
 * file of samples:
 *
 *   ENVI
 *   samples = 640
 *   wavelength = { 400, 410,
 *     420 }
 */
#ifndef CUV_ENVI_H
#define CUV_ENVI_H

#include <stdbool.h>
#include <stddef.h>
#include "cuv-cube.h"

#define CUV_ENVI_MAX_BYTES (16 << 20) /* of a header; more is refused */

/* ENVI's own numbers. Complex and 64 bit integers are refused. */
typedef enum {
  CUV_ENVI_U8 = 1,
  CUV_ENVI_I16 = 2,
  CUV_ENVI_I32 = 3,
  CUV_ENVI_F32 = 4,
  CUV_ENVI_F64 = 5,
  CUV_ENVI_U16 = 12,
  CUV_ENVI_U32 = 13,
} CuvEnviType;

typedef enum {
  CUV_ENVI_BSQ, /* [band][line][sample] */
  CUV_ENVI_BIL, /* [line][band][sample] */
  CUV_ENVI_BIP, /* [line][sample][band] */
} CuvEnviInterleave;

typedef struct {
  int32_t samples, lines; /* width and height, 1 .. CUV_CUBE_MAX_SIZE */
  int32_t bands;          /* 1 .. CUV_CUBE_MAX_BANDS */
  uint64_t header_offset; /* bytes of the data file before the samples */
  CuvEnviType type;
  CuvEnviInterleave interleave;
  bool big_endian;
  bool has_wavelengths, has_fwhm, has_ignore;
  double wavelengths[CUV_CUBE_MAX_BANDS]; /* nm */
  double fwhm[CUV_CUBE_MAX_BANDS];        /* nm */
  bool bad[CUV_CUBE_MAX_BANDS];           /* bbl: bands to leave out */
  double ignore;                          /* samples that were not measured */
} CuvEnvi;

/* Reads a header; nothing in it is changed afterwards. On failure returns false
 * and sets *error to "line N: reason" in plain words, without a newline:
 * free() it. Offset and samples together fit an int64_t. */
bool cuv_envi_parse (
    CuvEnvi *envi, const char *bytes, size_t size, char **error);

/* Keys of a header that CuvEnvi has no fields for, each as the text of a
 * header: a line "ENVI", then the keys. */
typedef struct {
  char *image;   /* where and when the scene was recorded */
  char *samples; /* what bands and values mean */
} CuvEnviKept;

/* Extracts them from the bytes that envi was parsed from. False if out of
 * memory; there is nothing to clear then. */
bool cuv_envi_keep (
    CuvEnviKept *self, const CuvEnvi *envi, const char *bytes, size_t size);
void cuv_envi_kept_clear (CuvEnviKept *self);

/* Reads the list of numbers of a key from such text. Returns their count; 0 if
 * the key is missing, is no list of numbers, or has more than most. */
int cuv_envi_kept_numbers (
    const char *kept, const char *key, double *numbers, int most);

/* The text of a header that reads as the same, and has the keys of kept, texts
 * as above or NULL, that it does not write of envi; free() it. NULL: no memory.
 */
char *cuv_envi_write (const CuvEnvi *envi, const char *kept);

int cuv_envi_sample_size (CuvEnviType type);       /* bytes */
uint64_t cuv_envi_data_size (const CuvEnvi *envi); /* without the offset */

/* ---- samples ---- */

#define CUV_ENVI_MAGIC_BYTES 16

/* Recognises other file formats by the first bytes. Returns a phrase such as
 * "a TIFF image" and in *cure what to do, or NULL for unknown bytes. */
const char *cuv_envi_other_format (
    const void *start, size_t size, const char **cure);

/* What samples become: U8 and U16 stay, all others are F32. */
CuvCubeFormat cuv_envi_format (CuvEnviType type);

/* Whether they are as they are to be in a file already. */
bool cuv_envi_is_plain (const CuvEnvi *envi);

/* n samples of a file; in need not be aligned. F64 beyond F32's range become
 * infinite, integers of 32 bits are rounded to the nearest F32. */
void cuv_envi_convert (
    const CuvEnvi *envi, const void *in, void *out, size_t n);

#endif
