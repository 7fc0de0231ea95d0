/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests of the readers of annotations: texts written by hand, each prefix of
 * them and each flipped bit. */
#include "annotations.h"
#include "cuvcheck.h"

#include <string.h>

#define COCO                                                                   \
  "{\"info\": {}, \"images\": [{\"id\": 7, \"file_name\": \"a.jpg\"},"         \
  "{\"id\": 8, \"file_name\": \"b.jpg\"}],"                                    \
  "\"categories\": [{\"id\": 1, \"name\": \"cup\"}, {\"id\": 3, "              \
  "\"name\": \"dog\"}], \"annotations\": ["                                    \
  "{\"image_id\": 8, \"category_id\": 3, \"bbox\": [1, 2.5, 30, 40]},"         \
  "{\"image_id\": 7, \"category_id\": 1, \"bbox\": [5, 6, 7, 8],"              \
  "\"iscrowd\": 1}]}"
#define VOC                                                                    \
  "<annotation>\n<filename>a.jpg</filename>\n<object><name>cup</name>"         \
  "<difficult>1</difficult><bndbox><xmin>6</xmin><ymin>7</ymin>"               \
  "<xmax>12</xmax><ymax>14</ymax></bndbox></object>"                           \
  "<object><name>dog</name><part><name>head</name><bndbox><xmin>1</xmin>"      \
  "<ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part><bndbox>"         \
  "<xmin>2</xmin><ymin>3.5</ymin><xmax>31</xmax><ymax>42.5</ymax></bndbox>"    \
  "<part><name>tail</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax>"  \
  "<ymax>2</ymax></bndbox></part></object></annotation>"
#define DLIB                                                                   \
  "<?xml version='1.0'?>\n<dataset><images>\n<image file='a.jpg'>"             \
  "<box top='6' left='5' width='7' height='8' ignore='1'>"                     \
  "<label>cup</label></box></image>\n"                                         \
  "<image file='b.jpg'><box top='2.5' left='1' width='30' height='40'>"        \
  "<label>dog</label><part name='0' x='1' y='2'/></box></image>"               \
  "</images></dataset>"
#define YOLO "1 0.5 0.5 0.2 0.4\n\n0 0.25 0.75 0.5 0.5 0.9\r\n"
#define INFO "a.jpg 1 5 6 7 8\nb.jpg 2 1 2.5 30 40  3 4 5 6\nc.jpg 0\n"
#define JSON_LINES                                                             \
  "{\"frame_num\": 3, \"source\": \"f.avi\", \"objects\": [{\"x\": 5, "        \
  "\"y\": 6, \"w\": 7, \"h\": 8, \"roi_type\": \"cup\"}]}\n"                   \
  "{\"frame_num\": 4, \"source\": \"f.avi\"}\n"
#define CSV                                                                    \
  "kind,frame_num,timestamp,source,roi_type,x,y,w,h,extra\r\n"                 \
  "object,3,,f.avi,\"a \"\"cup\"\", or, a\nmug\",5,6,7,8,{}\r\n"               \
  "lines,3,,f.avi,,,,,,{}\r\nframe,4,,f.avi,,,,,,\r\n"

#define COCO_TEXTS                                                             \
  "{\"images\": [{\"id\": \"x7\", \"file_name\": \"a.jpg\", \"width\": 640, "  \
  "\"height\": 480}, {\"id\": 8, \"file_name\": \"b.jpg\"}],"                  \
  "\"annotations\": ["                                                         \
  "{\"image_id\": \"8\", \"category_id\": 3, \"bbox\": [1, 2.5, 30, 40]},"     \
  "{\"image_id\": 8, \"category_id\": 3, \"bbox\": [1, 2, 0, 0]},"             \
  "{\"image_id\": 8, \"category_id\": 3, \"bbox\": []},"                       \
  "{\"image_id\": \"x7\", \"category_id\": \"cup\", \"bbox\": [5, 6, 7, 8],"   \
  "\"iscrowd\": 1}]}"
#define VOC_SIZE                                                               \
  "<?xml version=\"1.0\" encoding='iso-8859-1'?><annotation>"                  \
  "<filename>a.jpg</filename><size><width>640</width><height>480</height>"     \
  "</size><object><name>M\374ll</name><bndbox><xmin>6</xmin><ymin>7</ymin>"    \
  "<xmax>12</xmax><ymax>14</ymax></bndbox></object></annotation>"
#define LABELME                                                                \
  "{\"version\": \"5.2.1\", \"shapes\": ["                                     \
  "{\"label\": \"dog\", \"shape_type\": \"polygon\", \"points\": [[5, 6], "    \
  "[12, 6], [6, 14.5]]}, {\"label\": \"dog\", \"points\": [[1, 1]], "          \
  "\"shape_type\": \"point\"}, {\"label\": \"dog\", \"shape_type\": "          \
  "\"circle\", \"points\": [[10, 10], [13, 14]]}, {\"label\": \"cup\", "       \
  "\"shape_type\": \"rectangle\", \"points\": [[12, 14], [5, 6]]}],"           \
  "\"imagePath\": \"a.jpg\", \"imageData\": null, \"imageWidth\": 640,"        \
  "\"imageHeight\": 480}"
#define CVAT                                                                   \
  "<?xml version='1.0'?><annotations><version>1.1</version><meta><task>"       \
  "<original_size><width>320</width><height>240</height></original_size>"      \
  "<source>f.avi</source></task></meta>"                                       \
  "<image id='0' name='a.jpg' width='640' height='480'>"                       \
  "<points label='cup' points='3,4'/>"                                         \
  "<box label='cup' occluded='1' xtl='5' ytl='6' xbr='12' ybr='14'>"           \
  "<attribute name='x'>y</attribute></box></image>"                            \
  "<image id='1' name='b.jpg' width='640' height='480'>"                       \
  "<box label='cup' xtl='10' ytl='20' xbr='30' ybr='30' rotation='90'/>"       \
  "<polygon label='dog' points='1,2.5;31,2.5;31,42.5'/></image>"               \
  "<track id='0' label='cup'><box frame='4' xtl='5' ytl='6' xbr='12' "         \
  "ybr='14' outside='0'/><box frame='5' xtl='5' ytl='6' xbr='12' ybr='14' "    \
  "outside='1'/></track></annotations>"
#define VIA_JSON                                                               \
  "{\"_via_img_metadata\": {\"a.jpg9\": {\"filename\": \"a.jpg\", \"size\": "  \
  "9, "                                                                        \
  "\"regions\": [{\"shape_attributes\": {\"name\": \"circle\", \"cx\": 9, "    \
  "\"cy\": 9, \"r\": 3}, \"region_attributes\": {\"class\": \"dog\"}}, "       \
  "{\"shape_attributes\": {\"name\": \"rect\", \"x\": 5, \"y\": 6, "           \
  "\"width\": "                                                                \
  "7, \"height\": 8}, \"region_attributes\": {\"n\": 4, \"class\": "           \
  "\"cup\"}}]}}}"
#define VIA_CSV                                                                \
  "filename,file_size,file_attributes,region_count,region_id,"                 \
  "region_shape_attributes,region_attributes\n"                                \
  "a.jpg,9,\"{}\",2,0,\"{\"\"name\"\":\"\"polygon\"\",\"\"all_points_x\"\":"   \
  "[5,12,6],\"\"all_points_y\"\":[6,6,14]}\",\"{\"\"class\"\":\"\"cup\"\"}"    \
  "\"\n"                                                                       \
  "b.jpg,9,\"{}\",0,0,\"{}\",\"{}\"\n"
#define TENSORFLOW                                                             \
  "class,filename,width,height,xmin,ymin,xmax,ymax\n"                          \
  "cup,a.jpg,640,480,5,6,12,14\n"

typedef struct {
  const gchar *path;
  gint64 frame;
  gint n;            /* boxes */
  CuvAnnotation box; /* the last one */
  gint width, height;
  guint n_empty;
} Expected;

static const struct {
  const gchar *name, *text;
  CuvAnnotationsFormat format;
  Expected pictures[4];
} cases[] = {
  { "COCO", COCO, CUV_ANNOTATIONS_COCO,
      { { "a.jpg", -1, 1, .box = { 5, 6, 7, 8, "cup", TRUE } },
          { "b.jpg", -1, 1, .box = { 1, 2.5, 30, 40, "dog", FALSE } } } },
  { "VOC", VOC, CUV_ANNOTATIONS_VOC,
      { { "a.jpg", -1, 2, .box = { 1, 2.5, 30, 40, "dog", FALSE } } } },
  { "dlib", DLIB, CUV_ANNOTATIONS_DLIB,
      { { "a.jpg", -1, 1, .box = { 5, 6, 7, 8, "cup", TRUE } },
          { "b.jpg", -1, 1, .box = { 1, 2.5, 30, 40, "dog", FALSE } } } },
  { "YOLO", YOLO, CUV_ANNOTATIONS_YOLO,
      { { "", -1, 2, .box = { 0, 0.5, 0.5, 0.5, "cup", FALSE } } } },
  { "info.dat", INFO, CUV_ANNOTATIONS_INFO,
      { { "a.jpg", -1, 1, .box = { 5, 6, 7, 8, "", FALSE } },
          { "b.jpg", -1, 2, .box = { 3, 4, 5, 6, "", FALSE } },
          { .path = "c.jpg", .frame = -1 } } },
  { "JSON lines", JSON_LINES, CUV_ANNOTATIONS_JSON_LINES,
      { { "f.avi", 3, 1, .box = { 5, 6, 7, 8, "cup", FALSE } },
          { .path = "f.avi", .frame = 4 } } },
  { "CSV", CSV, CUV_ANNOTATIONS_CSV,
      { { "f.avi", 3, 1,
            .box = { 5, 6, 7, 8, "a \"cup\", or, a\nmug", FALSE } },
          { .path = "f.avi", .frame = 4 } } },
  { "COCO with texts as ids", COCO_TEXTS, CUV_ANNOTATIONS_COCO,
      { { "a.jpg", -1, 1, .box = { 5, 6, 7, 8, "cup", TRUE }, .width = 640,
            .height = 480 },
          { "b.jpg", -1, 1, .box = { 1, 2.5, 30, 40, "3", FALSE },
              .n_empty = 2 } } },
  { "VOC with a size", VOC_SIZE, CUV_ANNOTATIONS_VOC,
      { { "a.jpg", -1, 1, .box = { 5, 6, 7, 8, "M\303\274ll", FALSE },
          .width = 640, .height = 480 } } },
  { "LabelMe", LABELME, CUV_ANNOTATIONS_LABELME,
      { { "a.jpg", -1, 3, .box = { 5, 6, 7, 8, "cup", FALSE }, .width = 640,
          .height = 480, .n_empty = 1 } } },
  { "CVAT", CVAT, CUV_ANNOTATIONS_CVAT,
      { { "a.jpg", -1, 1, .box = { 5, 6, 7, 8, "cup", TRUE }, .width = 640,
            .height = 480, .n_empty = 1 },
          { "b.jpg", -1, 2, .box = { 1, 2.5, 30, 40, "dog", FALSE },
              .width = 640, .height = 480 },
          { "f.avi", 4, 1, .box = { 5, 6, 7, 8, "cup", FALSE }, .width = 320,
              .height = 240 } } },
  { "VIA JSON", VIA_JSON, CUV_ANNOTATIONS_VIA_JSON,
      { { "a.jpg", -1, 2, .box = { 5, 6, 7, 8, "cup", FALSE } } } },
  { "VIA CSV", VIA_CSV, CUV_ANNOTATIONS_VIA_CSV,
      { { "a.jpg", -1, 1, .box = { 5, 6, 7, 8, "cup", FALSE } },
          { .path = "b.jpg", .frame = -1 } } },
  { "TensorFlow", TENSORFLOW, CUV_ANNOTATIONS_TENSORFLOW_CSV,
      { { "a.jpg", -1, 1, .box = { 5, 6, 7, 8, "cup", FALSE }, .width = 640,
          .height = 480 } } },
  { "YOLO's polygons", "0.0 0.25 0.5 0.75 0.5 0.5 0.75\n", CUV_ANNOTATIONS_YOLO,
      { { "", -1, 1, .box = { 0.25, 0.5, 0.5, 0.25, "cup", FALSE } } } },
  { "blanks in paths",
      "\357\273\277my  2 cups.jpg 1 5 6 7 8\nb 2.jpg 0\nc 1 2 3 4 5.jpg 0\n",
      CUV_ANNOTATIONS_INFO,
      { { "my  2 cups.jpg", -1, 1, .box = { 5, 6, 7, 8, "", FALSE } },
          { .path = "b 2.jpg", .frame = -1 },
          { .path = "c 1 2 3 4 5.jpg", .frame = -1 } } },
};

static const gchar *const labels[] = { "cup", "dog", NULL };

/* Returns the error's text, or NULL. */
static gchar *
parse (CuvAnnotations *self, const gchar *bytes, gsize size)
{
  GError *error = NULL;
  gchar *text;

  if (cuv_annotations_parse (self, bytes, size, labels, &error)) {
    CUV_CHECK (error == NULL);
    return NULL;
  }
  CUV_CHECK (error != NULL);
  text = error != NULL ? g_strdup (error->message) : g_strdup ("");
  g_clear_error (&error);
  return text;
}

static void
check_picture (const CuvAnnotated *picture, const Expected *expected)
{
  const gint n = (gint) picture->boxes->len;
  const CuvAnnotation *box, *other = &expected->box;

  CUV_CHECK (
      g_str_equal (picture->path, expected->path), ": %s", picture->path);
  CUV_CHECK (picture->frame == expected->frame);
  CUV_CHECK (n == expected->n, ": %d boxes", n);
  CUV_CHECK (
      picture->width == expected->width && picture->height == expected->height,
      ": %d x %d", picture->width, picture->height);
  CUV_CHECK (picture->n_empty == expected->n_empty, ": %u", picture->n_empty);
  if (n == 0)
    return;
  box = &g_array_index (picture->boxes, CuvAnnotation, n - 1);
  CUV_CHECK (box->x == other->x && box->y == other->y
          && box->width == other->width && box->height == other->height,
      ": %g %g %g %g", box->x, box->y, box->width, box->height);
  CUV_CHECK (g_strcmp0 (box->label, other->label) == 0, ": %s", box->label);
  CUV_CHECK (box->ignore == other->ignore);
}

static void
check_case (guint i)
{
  CuvAnnotations *self = cuv_annotations_new ();
  CuvAnnotationsFormat format = CUV_ANNOTATIONS_N_FORMATS;
  gchar *error;
  guint n = 0;

  cuv_check_case ("%s", cases[i].name);
  CUV_CHECK (cuv_annotations_recognise (
      cases[i].text, strlen (cases[i].text), &format));
  CUV_CHECK (format == cases[i].format, ": %d", format);
  error = parse (self, cases[i].text, strlen (cases[i].text));
  CUV_CHECK (error == NULL, ": %s", error);
  while (
      n < G_N_ELEMENTS (cases[i].pictures) && cases[i].pictures[n].path != NULL)
    n++;
  CUV_CHECK (self->pictures->len == n, ": %u pictures", self->pictures->len);
  for (guint k = 0; k < n && k < self->pictures->len; k++)
    check_picture (self->pictures->pdata[k], &cases[i].pictures[k]);
  g_free (error);
  cuv_annotations_free (self);
}

/* ---- what is wrong ---- */

static const struct {
  const gchar *text, *error; /* error: a part of the message */
} wrong[] = {
  { "", "not COCO" },
  { "[1, 2]", "not COCO" },
  { "\377\330\377\340", "not UTF-8" },
  { "{\"annotations\": []}", "no array 'images'" },
  { "{\"images\": [{}], \"annotations\": []}", "images[0]: no file_name" },
  { "{\"images\": [], \"categories\": [], \"annotations\": [{}]}",
      "annotations[0]: no image has its image_id" },
  { "{\"images\": [{\"id\":1,\"file_name\":\"a\"}], \"categories\": [], "
    "\"annotations\": [{\"image_id\": 1}]}",
      "no category has its category_id" },
  { "{\"images\": [{\"id\":1,\"file_name\":\"a\"}], \"categories\": [{\"id\":"
    "2, \"name\":\"c\"}], \"annotations\": [{\"image_id\": 1, "
    "\"category_id\": 2, \"bbox\": [1, 2, 3]}]}",
      "bbox must be an array of four" },
  { "<annotation><object></object></annotation>", "lacks xmin" },
  { "<annotation>\n<object><bndbox><xmin>x</xmin></bndbox></object>"
    "</annotation>",
      "line 2: xmin 'x' is not a number" },
  { "<annotation><object>", "line 1: " },
  { "<dataset><box top='1' left='2' width='3' height='4'/></dataset>",
      "is not inside an <image>" },
  { "<dataset><image/></dataset>", "has no file" },
  { "<dataset><image file='a'><box top='1'/></image></dataset>",
      "a box has no left" },
  { "7 0.1 0.1 0.2 0.2",
      "line 1: class 7 has no name: the last named class is 1" },
  { "0 0.1 0.1 0.2 -0.1", "line 1: a box of 0.2 x -0.1 has a negative side" },
  { "0 108 0.1 0.2 0.1", "line 1: 108 is not a fraction" },
  { "0 .5 .5 nan inf", "line 1: 'nan' is not a number" },
  { "1.5 0.1 0.1 0.2 0.1", "line 1: the class '1.5'" },
  { "0 0.1 0.1 0.2 0.1 0.3 0.4 0.5", "but found 8 words" },
  { "{\"images\": [{\"file_name\": \"a\"}], \"annotations\": []}",
      "images[0]: no id" },
  { "<annotation>\n<object><bndbox><xmin>9</xmin><ymin>2</ymin><xmax>4</xmax>"
    "<ymax>5</ymax></bndbox></object></annotation>",
      "line 2: a box ends at 4, 5, before it begins at 9, 2" },
  { "<annotation><object><name>\374</name></object></annotation>",
      "not UTF-8" },
  { "<?xml encoding='gb2312'?><annotation>\377</annotation>",
      "the text is not valid gb2312" },
  { "\377\376a", "the text is not valid UTF-16LE" },
  { "<annotations><image name='a'><box/></image></annotations>",
      "a box has no xtl" },
  { "<annotations><box xtl='1' ytl='1' xbr='2' ybr='2'/></annotations>",
      "a <box> is not inside an <image>" },
  { "<annotations><image name='a'><polygon points='1,2;3'/></image>"
    "</annotations>",
      "the points '1,2;3' are not of the form" },
  { "<annotations><track><box frame='x'/></track></annotations>",
      "frame 'x' is not a number" },
  { "{\"imagePath\": \"a\", \"shapes\": [{\"points\": [[1, \"x\"]]}]}",
      "shapes[0]: a point must be two numbers" },
  { "{\"a\": {\"filename\": \"a\", \"regions\": [{\"shape_attributes\": "
    "{\"name\": \"rect\", \"x\": 1}}]}}",
      "a: a rect lacks coordinates" },
  { "filename,region_shape_attributes,region_attributes\na,x,{}\n", "row 2: " },
  { "filename,class,xmin,ymin,xmax,ymax\na,b,1,2,x,4\n",
      "row 2: xmax 'x' is not a number" },
  { "0 0.1 0.1 0.2 0.2\n1 2 3", "but found 3 words" },
  { "0 0.1 0.1 0.2 0.2\n-1 2 3 4 5",
      "line 2: the class '-1' is not a whole number" },
  { "a.jpg", "line 1: no number of boxes after 'a.jpg'" },
  { "a.jpg 2 1 2 3 4", "found 4 numbers instead of four for each of 2 boxes" },
  { "a.jpg 1 1 2 3 x", "'x' is not a number" },
  { "{\"frame_num\": \"x\"}", "line 1: no frame_num" },
  { "{\"frame_num\": 1, \"objects\": [3]}", "an object has no x" },
  { "{\"frame_num\": 1}\nx", "line 2: " },
  { "kind,frame_num\n", "the header has no column source" },
  { "kind,frame_num,source,roi_type,x,y,w,h\nobject,1,,,1,2,,4\n",
      "row 2: w '' is not a number" },
  { "kind,frame_num,source,roi_type,x,y,w,h\nobject,1\n", "row 2: no source" },
};

static void
check_wrong (guint i)
{
  CuvAnnotations *self = cuv_annotations_new ();
  gchar *error = parse (self, wrong[i].text, strlen (wrong[i].text));

  cuv_check_case ("%s", wrong[i].text);
  CUV_CHECK (error != NULL && strstr (error, wrong[i].error) != NULL,
      ": '%s' instead of '%s'", error != NULL ? error : "", wrong[i].error);
  g_free (error);
  cuv_annotations_free (self);
}

static const struct {
  const gchar *text, *names; /* names: joined by | */
} name_files[] = { { "cup\r\nsmall dog\n\n", "cup|small dog" },
  { "path: x\nnames: [cup, 'a, b', \"dog\"]\nnc: 3\n", "cup|a, b|dog" },
  { "names:\n  0: cup # red\n  2: \"dog\" # a #2\n\nnc: 3\n", "cup||dog" },
  { "nc: 2\nnames:\n- cup\n- 'dog'\ntrain: x\n", "cup|dog" },
  { "names: {1: dog,\n 0: cup}\n", "cup|dog" },
  { "names: [\n  'cup', # red, ']'\n  'dog',\n]\n", "cup|dog" },
  { "names: [men's, 'a # b', women's]\n", "men's|a # b|women's" } };

static void
check_names (void)
{
  static const gchar *const bad[] = { "", "\n", "names: []\n",
    "names:\n  70000: cup\n" };

  for (guint i = 0; i < G_N_ELEMENTS (name_files); i++) {
    gchar **names = cuv_annotations_names (name_files[i].text, NULL);
    gchar *joined = g_strjoinv ("|", names);

    cuv_check_case ("%s", name_files[i].text);
    CUV_CHECK (g_str_equal (joined, name_files[i].names), ": %s", joined);
    g_free (joined);
    g_strfreev (names);
  }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    GError *error = NULL;

    cuv_check_case ("%s", bad[i]);
    CUV_CHECK (cuv_annotations_names (bad[i], &error) == NULL);
    CUV_CHECK (error != NULL);
    g_clear_error (&error);
  }
}

/* Tests inputs that would overflow the stack of a recursive parser, or fill the
 * memory of one that stores open elements. */
static void
check_nested (void)
{
  static const struct {
    const gchar *begin, *level;
  } nested[] = { { "{\"annotations\":", "[" },
    { "{\"annotations\":", "{\"a\":" },
    { "{\"images\":[{\"id\":1,\"file_name\":\"a\"}],\"annotations\":", "[" },
    { "{\"images\":[{\"id\":1,\"file_name\":\"a\"}],\"annotations\":",
        "{\"a\":" },
    { "{\"frame_num\":0,\"objects\":", "[" },
    { "{\"frame_num\":0,\"objects\":", "{\"a\":" }, { "<annotation>", "<a>" },
    { "<dataset>", "<a>" }, { "<annotations>", "<a>" } };

  for (guint i = 0; i < G_N_ELEMENTS (nested); i++) {
    GString *text = g_string_new (nested[i].begin);
    CuvAnnotations *self = cuv_annotations_new ();
    gchar *error;

    cuv_check_case ("nested %s%s", nested[i].begin, nested[i].level);
    for (guint k = 0; k < 200000; k++)
      g_string_append (text, nested[i].level);
    error = parse (self, text->str, text->len);
    CUV_CHECK (error != NULL && strstr (error, "nested more than") != NULL,
        ": %s", error);
    g_free (error);
    cuv_annotations_free (self);
    g_string_free (text, TRUE);
  }
}

/* Tests lines of many words and fields, each of which could take 40 bytes. */
static void
check_long (void)
{
  static const gchar good[] = "0 .5 .5 .1 .1\n";
  GString *text = g_string_new (good);
  CuvAnnotations *self = cuv_annotations_new ();

  cuv_check_case ("long");
  for (guint i = 0; i < 1 << 20; i++)
    g_string_append (text, "1 ");
  for (gint line = 1; line <= 2; line++) {
    const gsize skipped = line == 1 ? strlen (good) : 0;
    gchar *error = parse (self, text->str + skipped, text->len - skipped);
    gchar *expected = g_strdup_printf (
        "line %d: longer than the limit of 1048576 bytes", line);

    CUV_CHECK (g_strcmp0 (error, expected) == 0, ": %s", error);
    g_free (expected);
    g_free (error);
  }
  g_string_assign (text, "filename,xmin,ymin,xmax,ymax,class\na,1,2,3,4,cup");
  for (guint i = 0; i < 10000; i++)
    g_string_append (text, ",");
  CUV_CHECK (parse (self, text->str, text->len) == NULL);
  CUV_CHECK (self->pictures->len == 2);
  cuv_annotations_free (self);
  g_string_free (text, TRUE);
}

/* The result is either an error or boxes, whatever the bytes are. */
static void
check_damage (guint i)
{
  const gsize size = strlen (cases[i].text);

  cuv_check_case ("damaged %s", cases[i].name);
  for (gsize bit = 0; bit < 9 * size; bit++) {
    CuvAnnotations *self = cuv_annotations_new ();
    gchar *bytes = g_memdup2 (cases[i].text, size + 1);

    if (bit < 8 * size)
      bytes[bit / 8] = (gchar) (bytes[bit / 8] ^ 1 << bit % 8);
    g_free (parse (self, bytes, bit < 8 * size ? size : bit - 8 * size));
    g_free (bytes);
    cuv_annotations_free (self);
  }
}

/* ---- .vec ---- */

/* Two samples of three pixels. */
static const gchar vec_bytes[] = "\2\0\0\0\3\0\0\0\0\0\0\0"
                                 "\0\1\0\2\0\377\0"
                                 "\0\7\0\10\0\11\0";

enum { VEC_SIZE = sizeof vec_bytes - 1 };

/* Returns the error's text, or NULL after storing the pixels of the last
 * sample. */
static gchar *
read_vec (const gchar *bytes, gsize size, guint8 *pixels)
{
  GError *error = NULL;
  gchar *text = NULL;
  CuvVec vec;
  gboolean ok = cuv_vec_parse (&vec, bytes, size, &error);

  for (gint i = 0; ok && i < vec.n; i++) {
    CUV_CHECK (vec.n_pixels <= VEC_SIZE, ": %d", vec.n_pixels);
    ok = cuv_vec_sample (&vec, i, pixels, &error);
  }
  CUV_CHECK (ok == (error == NULL));
  if (error != NULL)
    text = g_strdup (error->message);
  g_clear_error (&error);
  return text;
}

static void
check_vec (void)
{
  guint8 pixels[VEC_SIZE];
  gchar bytes[VEC_SIZE];
  gchar *error = read_vec (vec_bytes, VEC_SIZE, pixels);

  cuv_check_case ("vec");
  CUV_CHECK (error == NULL, ": %s", error);
  CUV_CHECK (pixels[0] == 7 && pixels[1] == 8 && pixels[2] == 9);
  for (gsize size = 0; size < VEC_SIZE; size++) {
    /* sanitizers detect reads beyond the end of this copy */
    gchar *copy = g_memdup2 (vec_bytes, size);

    error = read_vec (copy, size, pixels);
    CUV_CHECK (error != NULL, ": no error of %zu bytes", size);
    g_free (error);
    g_free (copy);
  }
  for (gsize bit = 0; bit < 8 * VEC_SIZE; bit++) {
    memcpy (bytes, vec_bytes, VEC_SIZE);
    bytes[bit / 8] = (gchar) (bytes[bit / 8] ^ 1 << bit % 8);
    g_free (read_vec (bytes, VEC_SIZE, pixels));
  }
  memcpy (bytes, vec_bytes, VEC_SIZE);
  bytes[16] = 1;
  error = read_vec (bytes, VEC_SIZE, pixels);
  CUV_CHECK (g_strcmp0 (error, "sample 0: a pixel is outside 0 to 255") == 0,
      ": %s", error);
  g_free (error);
}

CUV_CHECKS_CPU (check_all)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    check_case (i);
    check_damage (i);
  }
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    check_wrong (i);
  check_names ();
  check_nested ();
  check_long ();
  check_vec ();
}
