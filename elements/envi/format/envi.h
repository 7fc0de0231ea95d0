/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parser and writer of ENVI headers, conversion of samples, and a map of this
 * folder. A header is a text file beside a file of samples:
 *
 *   ENVI
 *   samples = 640
 *   wavelength = { 400, 410,
 *     420 }
 *
 * A cube that is read: gstenvisrc.c -> gstenvinames.c -> gstenvifile.c (header:
 * format/envi.c) -> gstenvibuffer.c -> caps, a buffer, and the header's other
 * keys as metadata. One that is written: gstenvisink.c -> gstenvifile.c
 * (format/envi-write.c). spectralreflectance and spectralrgb read cubes from
 * upstream; all of this runs on the CPU.
 *
 *   plugin.c                  registers the elements
 *   gstenvisrc.c              the element envisrc: sequences, parts, seeks
 *   gstenvisink.c             the element envisink
 *   gstenvinames.c            locations: their numbers, the files of a cube
 *   gstenvifile.c             opens, checks, maps and writes files
 *   gstenvibuffer.c           buffers of a file's samples
 *   gstenviwarnings.c         warnings about files
 *   gstspectralreflectance.c  the element spectralreflectance
 *   gstspectralreference.c    its white and dark references
 *   gstspectralrgb.c          the element spectralrgb
 *   gstspectralrgbbands.c     the choice of its three bands
 *   format/                   ENVI headers, in plain C:
 *     envi.c                    the parser: keys to the fields of CuvEnvi
 *     envi-reader.c             lines, keys, values and numbers of a header
 *     envi-text.c               encodings
 *     envi-lengths.c            wavelengths and their units
 *     envi-write.c              the writer, and keys passed on to other headers
 *     envi-magic.c              recognises files of other formats
 *     envi-samples.c            sample types and byte order
 *   reference/                arithmetic, in plain C:
 *     reflectance.c             levels and reflectances
 *     rgb.c                     limits and pixels of three bands
 */
#ifndef CUV_ENVI_H
#define CUV_ENVI_H

#include <stdbool.h>
#include <stddef.h>
#include "cuv-cube.h"

#define CUV_ENVI_MAX_BYTES (16 << 20) /* maximum size of a header */
#define CUV_ENVI_MAX_LINES (1 << 24)  /* line scans are long */

/* ENVI's data type codes; complex and 64-bit integers are not supported. */
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

/* What was assumed for a header that is incomplete or contradicts itself. */
typedef enum {
  CUV_ENVI_LITTLE_ENDIAN = 1 << 0, /* byte order is missing */
  CUV_ENVI_NO_FWHM = 1 << 1,       /* the number of FWHM values is wrong */
} CuvEnviAssumptions;

typedef struct {
  int32_t samples;        /* width, 1 .. CUV_CUBE_MAX_SIZE */
  int32_t lines;          /* height, 1 .. CUV_ENVI_MAX_LINES */
  int32_t bands;          /* 1 .. CUV_CUBE_MAX_BANDS */
  uint64_t header_offset; /* bytes before the samples in the data file */
  CuvEnviType type;
  CuvEnviInterleave interleave;
  bool big_endian;
  bool has_wavelengths, has_fwhm, has_ignore;
  uint32_t assumed;                       /* CuvEnviAssumptions, to be reported
                                           * as warnings */
  double wavelengths[CUV_CUBE_MAX_BANDS]; /* nm */
  double fwhm[CUV_CUBE_MAX_BANDS];        /* nm */
  bool bad[CUV_CUBE_MAX_BANDS];           /* bbl: bands to exclude */
  double ignore; /* value of samples without a measurement */
} CuvEnvi;

/* Returns the text of a header in UTF-8 or a superset of ASCII: converts
 * UTF-16, and removes a byte order mark and NULs at the end. Text that cannot
 * be converted stays as it is. free() it; NULL if out of memory. */
char *cuv_envi_decode (const char *bytes, size_t size, size_t *length);

/* Parses such text. On failure returns false and sets *error to "line N:
 * reason", without a newline; free() it. On success header offset plus data
 * size fit an int64_t. */
bool cuv_envi_parse (
    CuvEnvi *envi, const char *bytes, size_t size, char **error);

/* Keys of a header without a field in CuvEnvi, as header text: a line "ENVI",
 * then the keys. */
typedef struct {
  char *image;   /* where and when the scene was recorded */
  char *samples; /* what bands and values mean */
} CuvEnviExtraKeys;

/* Extracts these keys from the bytes from which envi was parsed. Returns false
 * if out of memory; self then needs no clear. */
bool cuv_envi_extract_keys (CuvEnviExtraKeys *self, const CuvEnvi *envi,
    const char *bytes, size_t size);
void cuv_envi_extra_keys_clear (CuvEnviExtraKeys *self);

/* Returns the keys of such text that say what bands are, not what their values
 * mean; free() it. Returns NULL if out of memory. */
char *cuv_envi_extract_bands (const char *text);

/* Reads a key's list of numbers from such text. Returns their count; 0 if the
 * key is missing, is not a list of numbers, or has more than `limit`. */
int cuv_envi_read_numbers (
    const char *text, const char *key, double *numbers, int limit);

/* Writes a header that parses to the same envi, followed by the keys of
 * extra_keys (text as in CuvEnviExtraKeys, or NULL) that envi has no fields
 * for. free() the result; NULL if out of memory. */
char *cuv_envi_write (const CuvEnvi *envi, const char *extra_keys);

int cuv_envi_sample_size (CuvEnviType type);       /* bytes */
uint64_t cuv_envi_data_size (const CuvEnvi *envi); /* bytes, without
                                                    * header_offset */

#define CUV_ENVI_MAGIC_BYTES 16

/* Recognises other file formats by the first bytes. Returns a phrase such as
 * "a TIFF image" and in *remedy what to do, or NULL for unknown bytes. */
const char *cuv_envi_other_format (
    const void *start, size_t size, const char **remedy);

/* Returns the format of converted samples: U8 and U16 stay, all others become
 * F32. */
CuvCubeFormat cuv_envi_format (CuvEnviType type);

/* Whether the file's samples need no conversion. */
bool cuv_envi_is_plain (const CuvEnvi *envi);

/* Converts n samples; in need not be aligned. F64 values beyond the range of
 * F32 become infinite; 32-bit integers are rounded to the nearest F32. */
void cuv_envi_convert (
    const CuvEnvi *envi, const void *in, void *out, size_t n);

#endif
