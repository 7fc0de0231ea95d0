/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recognises files of other formats by their first bytes. */
#include "format/envi.h"

#include <string.h>

#define GDAL                                                                   \
  "convert it to ENVI (gdal_translate -of ENVI INPUT OUTPUT.img) and read "    \
  "OUTPUT.img"
#define UNPACK "decompress it and read its contents"

/* Signatures have at least 4 bytes, so that raw samples match by chance with a
 * probability below 1e-8. */
static const struct {
  const char *bytes;
  size_t size;
  const char *name, *remedy;
} formats[] = {
  { "II*\0", 4, "a TIFF image", GDAL },
  { "MM\0*", 4, "a TIFF image", GDAL },
  { "II+\0", 4, "a BigTIFF image", GDAL },
  { "MM\0+", 4, "a BigTIFF image", GDAL },
  { "\211PNG\r\n\032\n", 8, "a PNG image", GDAL },
  { "\377\330\377\340", 4, "a JPEG image", GDAL },
  { "\377\330\377\341", 4, "a JPEG image", GDAL },
  { "\377\330\377\333", 4, "a JPEG image", GDAL },
  { "\377\330\377\356", 4, "a JPEG image", GDAL },
  { "\0\0\0\014jP  ", 8, "a JPEG 2000 image", GDAL },
  { "\377\117\377\121", 4, "a JPEG 2000 image", GDAL },
  { "GIF8", 4, "a GIF image", GDAL },
  { "\211HDF\r\n\032\n", 8, "an HDF5 or netCDF-4 file", GDAL },
  { "\016\003\023\001", 4, "an HDF4 file", GDAL },
  { "CDF\001", 4, "a netCDF file", GDAL },
  { "CDF\002", 4, "a netCDF file", GDAL },
  { "CDF\005", 4, "a netCDF file", GDAL },
  { "NITF0", 5, "a NITF image", GDAL },
  { "EHFA_HEADER_TAG", 15, "an ERDAS Imagine image", GDAL },
  { "SIMPLE  =", 9, "a FITS image", GDAL },
  { "GRIB", 4, "a GRIB file", GDAL },
  { "MATLAB 5.0 MAT", 14, "a MATLAB file",
      "save its array as a file of raw samples and read that file" },
  { "\223NUMPY", 6, "a NumPy file",
      "save its array with numpy.ndarray.tofile() and read that file" },
  { "PK\003\004", 4, "a ZIP archive", UNPACK },
  { "\037\213\010\0", 4, "compressed by gzip", UNPACK },
  { "\037\213\010\010", 4, "compressed by gzip", UNPACK },
  { "\3757zXZ\0", 6, "compressed by xz", UNPACK },
  { "(\265/\375", 4, "compressed by zstd", UNPACK },
  { "7z\274\257\047\034", 6, "a 7z archive", UNPACK },
  { "ENVI\n", 5, "an ENVI header", "use the file of samples beside it" },
  { "ENVI\r\n", 6, "an ENVI header", "use the file of samples beside it" },
};

const char *
cuv_envi_other_format (const void *start, size_t size, const char **remedy)
{
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (size >= formats[i].size
        && memcmp (start, formats[i].bytes, formats[i].size) == 0) {
      *remedy = formats[i].remedy;
      return formats[i].name;
    }
  }
  return NULL;
}
