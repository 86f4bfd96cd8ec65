// Imports terrains that Upthrust exported for Unity, and reloads them when the export changes.
//
// The first part reads and checks an export and uses nothing of Unity, so that it can be tested without it. The second
// part makes terrains from it.

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.IO.Compression;
using System.Text;
using System.Text.RegularExpressions;
using UnityEditor;
using UnityEditor.SceneManagement;
using UnityEngine;
using UnityEngine.SceneManagement;

namespace Upthrust
{
    /// <summary>A problem with an export, in words for the user.</summary>
    internal sealed class ExportException : Exception
    {
        internal ExportException(string message) : base(message) { }
    }

    /// <summary>A file of an export.</summary>
    internal class ExportFile
    {
        internal string Name;
        internal string Crc32;
        /// <summary>The tile, counted eastward and southward from the north-western one.</summary>
        internal int TileColumn, TileRow;
        internal int Width, Height;

        /// <summary>The contents of the file, whose checksum is compared with that of the manifest.</summary>
        internal byte[] Read(string folder)
        {
            byte[] bytes;
            try
            {
                bytes = File.ReadAllBytes(Path.Combine(folder, Name));
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                throw new ExportException($"{Name} cannot be read: {error.Message}");
            }
            if (Checksum.Of(bytes) != Crc32)
                throw new ExportException(
                    $"{Name} is not the file that {Export.ManifestName} lists; wait until the export has ended, or " +
                    "export again");
            return bytes;
        }
    }

    /// <summary>Heights as 16-bit integers.</summary>
    internal sealed class HeightmapFile : ExportFile
    {
        /// <summary>Its first sample in the whole terrain, counted eastward and southward.</summary>
        internal int FirstColumn, FirstRow;
        /// <summary>The heights of the value 0 and of MaxValue.</summary>
        internal double MinM, MaxM;
        internal int MaxValue;
        internal bool IsBigEndian, IsSouthFirst;

        /// <summary>Terrain Height, which must not be 0 even if the terrain is flat.</summary>
        internal double SizeM => MaxM > MinM ? MaxM - MinM : 1;

        internal byte[] ReadHeights(string folder)
        {
            byte[] bytes = Read(folder);
            int expected = 2 * Width * Height;
            if (bytes.Length != expected)
                throw new ExportException($"{Name} has {bytes.Length} bytes, but {expected} are expected");
            return bytes;
        }
    }

    /// <summary>Weights of terrain types, one per channel.</summary>
    internal sealed class WeightsFile : ExportFile
    {
        /// <summary>The numbers of the types in the channels.</summary>
        internal int[] Types;

        internal PngImage ReadWeights(string folder)
        {
            byte[] bytes = Read(folder);
            PngHeader header = Png.ReadHeader(Name, bytes);
            if (header.Width != Width || header.Height != Height || header.Channels < Types.Length)
                throw new ExportException(
                    $"{Name} has {header.Width} × {header.Height} pixels of {header.Channels} channels, but " +
                    $"{Width} × {Height} of at least {Types.Length} are expected");
            return Png.Read(Name, bytes);
        }
    }

    /// <summary>A layer of what stands on the terrain.</summary>
    internal sealed class ScatterLayer
    {
        internal string Name, Shape;
        internal double RadiusM, HeightM;
        internal byte Red, Green, Blue;
        /// <summary>The instances as rows of ScatterFile.Fields.</summary>
        internal List<double[]> Instances;
    }

    /// <summary>The file of what stands on the terrain.</summary>
    internal sealed class ScatterFile : ExportFile
    {
        /// <summary>Metres east, up and south of the north-western corner, angles in degrees, and the scale.</summary>
        internal static readonly string[] Fields = { "x_m", "y_m", "z_m", "yaw_deg", "pitch_deg", "roll_deg", "scale" };

        private static readonly string[] Shapes = { "cone", "ball", "box", "pillar" };

        internal List<ScatterLayer> ReadLayers(string folder)
        {
            JsonObject json = Json.Parse(Encoding.UTF8.GetString(Read(folder)), Name);
            string[] fields = json.Strings("fields");
            for (int i = 0; i < Fields.Length; i++)
                if (i >= fields.Length || fields[i] != Fields[i])
                    throw new ExportException($"{Name} has no valid \"fields\"");
            var layers = new List<ScatterLayer>();
            foreach (JsonObject entry in json.Objects("layers"))
            {
                var layer = new ScatterLayer
                {
                    Name = entry.String("name"),
                    Shape = entry.String("shape"),
                    RadiusM = entry.Number("radius_m"),
                    HeightM = entry.Number("height_m"),
                    Instances = entry.Rows("instances", fields.Length),
                };
                entry.Colour("color", out layer.Red, out layer.Green, out layer.Blue);
                if (Array.IndexOf(Shapes, layer.Shape) < 0 || !(layer.RadiusM > 0 && layer.HeightM > 0))
                    throw new ExportException($"{Name} has a layer without a valid shape");
                if (layers.Exists(other => other.Name == layer.Name))
                    throw new ExportException($"{Name} has two layers of the same name");
                layers.Add(layer);
            }
            return layers;
        }
    }

    /// <summary>A terrain type and its colour in sRGB.</summary>
    internal sealed class TerrainType
    {
        internal string Name;
        internal byte Red, Green, Blue;
    }

    /// <summary>The contents of the upthrust.json of an export for Unity.</summary>
    internal sealed class Export
    {
        internal const string ManifestName = "upthrust.json";

        /// <summary>The latest version of the manifest that this file understands.</summary>
        private const int Format = 1;

        /// <summary>The manifest as it was read; the file may have been replaced since then.</summary>
        internal byte[] Source;
        internal string Folder;
        internal string Name;
        internal double WidthM, DepthM;
        internal double SpacingXM, SpacingZM;
        internal int Columns, Rows;
        /// <summary>The water level, or null.</summary>
        internal double? WaterM;
        internal readonly List<HeightmapFile> Heightmaps = new List<HeightmapFile>();
        internal readonly List<WeightsFile> Weights = new List<WeightsFile>();
        internal readonly List<TerrainType> Types = new List<TerrainType>();
        /// <summary>The file of what stands on the terrain, or null.</summary>
        internal ScatterFile Scatter;

        /// <summary>Reads and checks a manifest.</summary>
        internal static Export Read(string path)
        {
            if (Path.GetFileName(path) != ManifestName)
                throw new ExportException($"choose {ManifestName} in the folder of the export");
            byte[] source;
            try
            {
                source = File.ReadAllBytes(path);
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                throw new ExportException($"{path} cannot be read: {error.Message}");
            }
            JsonObject json = Json.Parse(Encoding.UTF8.GetString(source), ManifestName);
            int format = json.Integer("format");
            if (format > Format)
                throw new ExportException(
                    $"this export has format {format}, and this importer reads {Format}; use the importer that " +
                    "Upthrust writes beside the export");
            string target = json.String("target");
            if (target != "unity")
                throw new ExportException($"this export is for \"{target}\"; export it for Unity");
            int[] tiles = json.Integers("tiles", 2);
            double[] spacing = json.Numbers("spacing_m", 2);
            var export = new Export
            {
                Source = source,
                Folder = Path.GetDirectoryName(Path.GetFullPath(path)),
                Name = json.String("name"),
                WidthM = json.Number("width_m"),
                DepthM = json.Number("depth_m"),
                SpacingXM = spacing[0],
                SpacingZM = spacing[1],
                Columns = tiles[0],
                Rows = tiles[1],
                WaterM = json.IsNull("water_m") ? (double?)null : json.Number("water_m"),
            };
            if (!(export.WidthM > 0 && export.DepthM > 0 && spacing[0] > 0 && spacing[1] > 0))
                throw new ExportException("the terrain of the export has no size");
            foreach (JsonObject entry in json.Objects("heightmaps"))
                if (IsUsed(entry))
                    export.Heightmaps.Add(ReadHeightmap(entry));
            foreach (JsonObject entry in json.Objects("types"))
                export.Types.Add(ReadType(entry));
            foreach (JsonObject entry in json.Objects("weights"))
                export.Weights.Add(export.ReadWeights(entry));
            // Exports of earlier versions have no list of these files.
            if (!json.IsNull("scatter"))
                foreach (JsonObject entry in json.Objects("scatter"))
                    if (export.Scatter == null
                        && entry.String("file").EndsWith(".json", StringComparison.OrdinalIgnoreCase))
                        ReadName(entry, export.Scatter = new ScatterFile());
            if (export.Heightmaps.Count == 0)
                throw new ExportException(
                    "the export has no .raw heightmap of 16-bit integers; export it for Unity");
            foreach (HeightmapFile file in export.Heightmaps)
            {
                bool isInside = file.TileColumn >= 0 && file.TileColumn < export.Columns && file.TileRow >= 0 &&
                    file.TileRow < export.Rows;
                if (!isInside)
                    throw new ExportException($"{file.Name} is not one of the {tiles[0]} × {tiles[1]} tiles");
            }
            return export;
        }

        private static void ReadName(JsonObject entry, ExportFile file)
        {
            file.Name = entry.String("file");
            // All files are in the folder of the manifest; a path could lead elsewhere.
            bool isName = file.Name.Length > 0 && file.Name.IndexOfAny(new[] { '/', '\\', ':', '\0' }) < 0 &&
                !file.Name.Contains("..");
            if (!isName)
                throw new ExportException($"\"{file.Name}\" is not the name of a file");
            file.Crc32 = entry.String("crc32");
        }

        private static void ReadFile(JsonObject entry, ExportFile file)
        {
            ReadName(entry, file);
            int[] tile = entry.Integers("tile", 2);
            int[] size = entry.Integers("size", 2);
            file.TileColumn = tile[0];
            file.TileRow = tile[1];
            file.Width = size[0];
            file.Height = size[1];
        }

        /// <summary>Whether this is a heightmap for Unity. An export can have others.</summary>
        private static bool IsUsed(JsonObject entry) =>
            entry.String("file").EndsWith(".raw", StringComparison.OrdinalIgnoreCase) &&
            entry.String("values") == "integers" && entry.Integer("bits") == 16;

        private static HeightmapFile ReadHeightmap(JsonObject entry)
        {
            var file = new HeightmapFile();
            ReadFile(entry, file);
            int[] first = entry.Integers("first_sample", 2);
            file.FirstColumn = first[0];
            file.FirstRow = first[1];
            file.MinM = entry.Number("min_m");
            file.MaxM = entry.Number("max_m");
            file.MaxValue = entry.Integer("max_value");
            file.IsBigEndian = entry.Choice("byte_order", "little-endian", "big-endian") == 1;
            file.IsSouthFirst = entry.Choice("row_order", "north first", "south first") == 1;
            int steps = file.Width - 1;
            bool isPowerOfTwo = steps > 0 && (steps & (steps - 1)) == 0;
            if (file.Width != file.Height || !isPowerOfTwo || steps < 32 || steps > 4096)
                throw new ExportException(
                    $"{file.Name} has {file.Width} × {file.Height} samples, but Unity needs a square of 33, 65, 129, " +
                    "257, 513, 1025, 2049 or 4097");
            if (file.MaxValue < 1 || !(file.MaxM >= file.MinM))
                throw new ExportException($"the height range of {file.Name} is not valid");
            return file;
        }

        private static TerrainType ReadType(JsonObject entry)
        {
            var type = new TerrainType { Name = entry.String("name") };
            entry.Colour("color", out type.Red, out type.Green, out type.Blue);
            return type;
        }

        private WeightsFile ReadWeights(JsonObject entry)
        {
            var file = new WeightsFile();
            ReadFile(entry, file);
            file.Types = entry.Integers("types", null);
            foreach (int type in file.Types)
                if (type < 0 || type >= Types.Count)
                    throw new ExportException($"{file.Name} has weights of type {type}, which is not listed");
            if (file.Width != file.Height || file.Width < 16 || file.Width > 4096)
                throw new ExportException(
                    $"{file.Name} has {file.Width} × {file.Height} pixels, but Unity needs a square of 16 to 4096");
            return file;
        }

        /// <summary>The numbers of the types that have weights: the layers of the terrain.</summary>
        internal List<int> Layers()
        {
            var layers = new List<int>();
            foreach (WeightsFile file in Weights)
                foreach (int type in file.Types)
                    if (!layers.Contains(type))
                        layers.Add(type);
            return layers;
        }

        /// <summary>The weights of the tile of a heightmap.</summary>
        internal List<WeightsFile> WeightsOf(HeightmapFile heightmap)
        {
            return Weights.FindAll(
                file => file.TileColumn == heightmap.TileColumn && file.TileRow == heightmap.TileRow);
        }

        /// <summary>The metres from the south-western corner of the terrain to that of a tile.</summary>
        internal double EastM(HeightmapFile file) => file.FirstColumn * SpacingXM;

        /// <summary>The metres from the south-western corner of the terrain to that of a tile.</summary>
        internal double NorthM(HeightmapFile file) => DepthM - (file.FirstRow + file.Height - 1) * SpacingZM;

        /// <summary>The files and checksums, to find out what has changed.</summary>
        internal Dictionary<string, string> Checksums()
        {
            var checksums = new Dictionary<string, string>();
            foreach (HeightmapFile file in Heightmaps)
                checksums[file.Name] = file.Crc32;
            foreach (WeightsFile file in Weights)
                checksums[file.Name] = file.Crc32;
            if (Scatter != null)
                checksums[Scatter.Name] = Scatter.Crc32;
            return checksums;
        }

        /// <summary>A name for each layer that can be part of the name of a file, in the order of the layers.</summary>
        internal List<string> LayerNames() => FileNames(Layers().ConvertAll(type => Types[type].Name));

        /// <summary>A different file name for each of some names.</summary>
        internal static List<string> FileNames(List<string> all)
        {
            var names = new List<string>();
            var taken = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
            foreach (string each in all)
            {
                string first = FileName(each), name = first;
                for (int number = 2; !taken.Add(name); number++)
                    name = first + " " + number;
                names.Add(name);
            }
            return names;
        }

        /// <summary>
        /// A name for a file or a folder that Windows, macOS and Linux accept and that Unity does not ignore.
        /// </summary>
        internal static string FileName(string name)
        {
            var safe = new StringBuilder();
            foreach (char letter in name)
                safe.Append(letter < ' ' || "/\\:*?\"<>|#%&{}".IndexOf(letter) >= 0 ? '_' : letter);
            // Unity ignores names that begin with a dot or end with a tilde; Windows drops dots and spaces at the end.
            string trimmed = safe.ToString().Trim(' ', '.', '~');
            if (trimmed.Length > MaxNameLength)
            {
                int length = char.IsHighSurrogate(trimmed[MaxNameLength - 1]) ? MaxNameLength - 1 : MaxNameLength;
                trimmed = trimmed.Substring(0, length).TrimEnd(' ', '.', '~');
            }
            if (ReservedNames.IsMatch(trimmed))
                trimmed = "_" + trimmed;
            return trimmed.Length == 0 ? "Terrain" : trimmed;
        }

        /// <summary>
        /// File systems allow 255 bytes. A letter takes up to three in UTF-8, and endings are added to the name.
        /// </summary>
        private const int MaxNameLength = 64;

        /// <summary>Devices of Windows, with any ending, and names that Unity ignores.</summary>
        private static readonly Regex ReservedNames = new Regex(
            @"^((con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(\..*)?|cvs|.*\.tmp)$",
            RegexOptions.IgnoreCase | RegexOptions.CultureInvariant);

        /// <summary>The manifest with empty checksums, which no file has.</summary>
        internal byte[] WithoutChecksums() => Encoding.UTF8.GetBytes(
            Regex.Replace(Encoding.UTF8.GetString(Source), "(\"crc32\"\\s*:\\s*)\"[^\"]*\"", "$1\"\""));
    }

    /// <summary>Converts heights and weights to what TerrainData stores.</summary>
    internal static class Conversion
    {
        /// <summary>
        /// TerrainData stores heights as integers: 0 at the bottom and this number at the full Terrain Height
        /// (PaintContext.kNormalizedHeightScale is 32766 / 65535). So a height is within size.y / 65532, which is about
        /// one step of a 16-bit file.
        /// </summary>
        internal const int MaxHeight = 32766;

        /// <summary>
        /// Heights for TerrainData.SetHeights: the southern row first. Values lie a quarter above the integers to be
        /// stored, so that they are the same whether Unity rounds or truncates.
        /// </summary>
        internal static float[,] Heights(HeightmapFile file, byte[] bytes)
        {
            var heights = new float[file.Height, file.Width];
            double scale = (file.MaxM - file.MinM) / file.SizeM / file.MaxValue * MaxHeight;
            int low = file.IsBigEndian ? 1 : 0;
            for (int z = 0; z < file.Height; z++)
            {
                int row = file.IsSouthFirst ? z : file.Height - 1 - z;
                for (int x = 0; x < file.Width; x++)
                {
                    int at = 2 * (row * file.Width + x);
                    int value = bytes[at + low] | bytes[at + 1 - low] << 8;
                    int stored = (int)Math.Round(value * scale);
                    heights[z, x] = stored >= MaxHeight ? 1 : (stored + 0.25f) / MaxHeight;
                }
            }
            return heights;
        }

        /// <summary>
        /// Weights for TerrainData.SetAlphamaps: rows from south to north, beginning with `firstRow` from the south.
        /// The weights of a pixel add up to 1; where there are none, the first layer covers the terrain. There can be
        /// more `channels` than layers.
        /// </summary>
        internal static float[,,] Alphamaps(
            List<WeightsFile> files, List<PngImage> images, List<int> layers, int firstRow, int rows, int channels)
        {
            int size = files[0].Width;
            var alphamaps = new float[rows, size, channels];
            var weights = new int[layers.Count];
            for (int z = 0; z < rows; z++)
            {
                // Images begin with the northern row.
                int row = size - 1 - (firstRow + z);
                for (int x = 0; x < size; x++)
                {
                    Array.Clear(weights, 0, weights.Length);
                    for (int i = 0; i < files.Count; i++)
                    {
                        int at = (row * size + x) * images[i].Channels;
                        for (int channel = 0; channel < files[i].Types.Length; channel++)
                            weights[layers.IndexOf(files[i].Types[channel])] = images[i].Pixels[at + channel];
                    }
                    int sum = 0;
                    foreach (int weight in weights)
                        sum += weight;
                    if (sum == 0)
                        weights[0] = sum = 1;
                    for (int layer = 0; layer < weights.Length; layer++)
                        alphamaps[z, x, layer] = (float)weights[layer] / sum;
                }
            }
            return alphamaps;
        }
    }

    /// <summary>The placeholder shape that stands for an instance until the user has a model.</summary>
    internal static class StandIn
    {
        private const int RingsOfBall = 5;

        /// <summary>
        /// The corners of its triangles, each three clockwise from outside: x is east, y is up, z is north. It stands
        /// on the origin.
        /// </summary>
        internal static List<Vector3> Corners(ScatterLayer layer)
        {
            bool isBox = layer.Shape == "box";
            int sides = isBox ? 4 : 8;
            // A box has sides of twice the radius, which face the compass directions.
            double radius = isBox ? layer.RadiusM * Math.Sqrt(2) : layer.RadiusM, turned = isBox ? 0.5 : 0;
            // Rings from the bottom up: shares of the radius and of the height.
            double[][] rings = { new[] { 0.0, 0 }, new[] { 1.0, 0 }, new[] { 1.0, 1 }, new[] { 0.0, 1 } };
            if (layer.Shape == "cone")
                rings = new[] { new[] { 0.0, 0 }, new[] { 1.0, 0 }, new[] { 0.0, 1 } };
            else if (layer.Shape == "ball")
            {
                rings = new double[RingsOfBall + 1][];
                for (int ring = 0; ring <= RingsOfBall; ring++)
                {
                    double angle = Math.PI * ring / RingsOfBall;
                    bool isPole = ring == 0 || ring == RingsOfBall;
                    rings[ring] = new[] { isPole ? 0 : Math.Sin(angle), 0.5 - 0.5 * Math.Cos(angle) };
                }
            }
            Func<double[], int, Vector3> corner = (ring, side) =>
            {
                double angle = 2 * Math.PI * (side % sides + turned) / sides;
                return new Vector3(
                    (float)(ring[0] * radius * Math.Sin(angle)), (float)(ring[1] * layer.HeightM),
                    (float)(ring[0] * radius * Math.Cos(angle)));
            };
            var corners = new List<Vector3>();
            for (int i = 0; i + 1 < rings.Length; i++)
                for (int side = 0; side < sides; side++)
                {
                    Vector3 low = corner(rings[i], side), nextLow = corner(rings[i], side + 1);
                    Vector3 high = corner(rings[i + 1], side), nextHigh = corner(rings[i + 1], side + 1);
                    // At a point, one of the two triangles has no area.
                    if (rings[i][0] > 0)
                        corners.AddRange(new[] { low, nextLow, high });
                    if (rings[i + 1][0] > 0)
                        corners.AddRange(new[] { high, nextLow, nextHigh });
                }
            return corners;
        }
    }

    /// <summary>CRC-32 as in PNG and ZIP.</summary>
    internal static class Checksum
    {
        private static readonly uint[] Table = MakeTable();

        private static uint[] MakeTable()
        {
            var table = new uint[256];
            for (uint i = 0; i < 256; i++)
            {
                uint rest = i;
                for (int bit = 0; bit < 8; bit++)
                    rest = (rest & 1) != 0 ? 0xEDB88320 ^ rest >> 1 : rest >> 1;
                table[i] = rest;
            }
            return table;
        }

        internal static uint Number(byte[] bytes)
        {
            uint crc = 0xFFFFFFFF;
            foreach (byte next in bytes)
                crc = Table[(crc ^ next) & 0xFF] ^ crc >> 8;
            return crc ^ 0xFFFFFFFF;
        }

        internal static string Of(byte[] bytes) => Number(bytes).ToString("x8", CultureInfo.InvariantCulture);
    }

    internal struct PngHeader
    {
        internal int Width, Height, Channels;
    }

    internal sealed class PngImage
    {
        internal int Channels;
        /// <summary>The northern row first.</summary>
        internal byte[] Pixels;
    }

    /// <summary>
    /// Reads PNG files with 8 bits per channel (W3C, "Portable Network Graphics Specification", 2003). Unity's own
    /// reader makes textures, whose colours it may convert or compress; weights are data and have to stay exact.
    /// </summary>
    internal static class Png
    {
        private static readonly byte[] Signature = { 137, 80, 78, 71, 13, 10, 26, 10 };

        private static int Integer(byte[] bytes, int at) =>
            bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];

        internal static PngHeader ReadHeader(string name, byte[] bytes)
        {
            bool isPng = bytes.Length > 33;
            for (int i = 0; isPng && i < Signature.Length; i++)
                isPng = bytes[i] == Signature[i];
            if (!isPng)
                throw new ExportException($"{name} is not a PNG");
            int[] channels = { 1, 0, 3, 0, 2, 0, 4 };
            int colour = bytes[25];
            if (bytes[24] != 8 || colour >= channels.Length || channels[colour] == 0 || bytes[28] != 0)
                throw new ExportException($"{name} has to have 8 bits per channel, no palette and no interlacing");
            return new PngHeader
            {
                Width = Integer(bytes, 16),
                Height = Integer(bytes, 20),
                Channels = channels[colour],
            };
        }

        internal static PngImage Read(string name, byte[] bytes)
        {
            PngHeader header = ReadHeader(name, bytes);
            int stride = header.Width * header.Channels;
            var pixels = new byte[stride * header.Height];
            var first = new byte[1];
            using (var packed = new MemoryStream())
            {
                for (int at = 8, length; at + 12 <= bytes.Length; at += 12 + length)
                {
                    length = Integer(bytes, at);
                    if (length < 0 || length > bytes.Length - at - 12)
                        throw new ExportException($"{name} ends too early");
                    if (Encoding.ASCII.GetString(bytes, at + 4, 4) == "IDAT")
                        packed.Write(bytes, at + 8, length);
                }
                // Two bytes of the zlib format precede the deflated data.
                packed.Position = 2;
                using (var stream = new DeflateStream(packed, CompressionMode.Decompress))
                {
                    for (int row = 0; row < header.Height; row++)
                    {
                        int filter = Unpack(name, stream, first, 0, 1) == 1 ? first[0] : -1;
                        int start = row * stride;
                        for (int done = 0, read; done < stride; done += read)
                        {
                            read = Unpack(name, stream, pixels, start + done, stride - done);
                            if (read <= 0)
                                throw new ExportException($"{name} ends too early");
                        }
                        Unfilter(name, filter, pixels, start, stride, header.Channels, row == 0);
                    }
                }
            }
            return new PngImage { Channels = header.Channels, Pixels = pixels };
        }

        private static int Unpack(string name, Stream stream, byte[] bytes, int start, int count)
        {
            try
            {
                return stream.Read(bytes, start, count);
            }
            catch (Exception error) when (error is InvalidDataException || error is IOException)
            {
                throw new ExportException($"{name} is damaged: {error.Message}");
            }
        }

        /// <summary>Adds the prediction that the filter of a row subtracted.</summary>
        private static void Unfilter(
            string name, int filter, byte[] pixels, int start, int stride, int channels, bool isFirst)
        {
            if (filter < 0 || filter > 4)
                throw new ExportException($"{name} has an unknown filter");
            for (int i = 0; i < stride && filter > 0; i++)
            {
                int left = i < channels ? 0 : pixels[start + i - channels];
                int up = isFirst ? 0 : pixels[start + i - stride];
                int corner = isFirst || i < channels ? 0 : pixels[start + i - stride - channels];
                int prediction = filter == 1 ? left
                    : filter == 2 ? up
                    : filter == 3 ? (left + up) / 2
                    : Paeth(left, up, corner);
                pixels[start + i] = (byte)(pixels[start + i] + prediction);
            }
        }

        private static int Paeth(int left, int up, int corner)
        {
            int estimate = left + up - corner;
            int toLeft = Math.Abs(estimate - left);
            int toUp = Math.Abs(estimate - up);
            int toCorner = Math.Abs(estimate - corner);
            return toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner;
        }
    }

    /// <summary>An object of a JSON file. Members that are not asked for are ignored.</summary>
    internal sealed class JsonObject
    {
        private readonly Dictionary<string, object> members;
        private readonly string file;

        internal JsonObject(Dictionary<string, object> members, string file)
        {
            this.members = members;
            this.file = file;
        }

        private ExportException Invalid(string key) => new ExportException($"{file} has no valid \"{key}\"");

        private T Get<T>(string key)
        {
            object value;
            if (members.TryGetValue(key, out value) && value is T)
                return (T)value;
            throw Invalid(key);
        }

        internal bool IsNull(string key)
        {
            object value;
            return !members.TryGetValue(key, out value) || value == null;
        }

        internal string String(string key) => Get<string>(key);

        internal double Number(string key)
        {
            double number = Get<double>(key);
            if (double.IsNaN(number) || double.IsInfinity(number))
                throw Invalid(key);
            return number;
        }

        private int Whole(double number, string key)
        {
            if (number != Math.Floor(number) || Math.Abs(number) > int.MaxValue)
                throw Invalid(key);
            return (int)number;
        }

        internal int Integer(string key) => Whole(Number(key), key);

        /// <summary>The position of a member among two possible words.</summary>
        internal int Choice(string key, string first, string second)
        {
            string word = String(key);
            if (word != first && word != second)
                throw Invalid(key);
            return word == second ? 1 : 0;
        }

        internal double[] Numbers(string key, int? count)
        {
            List<object> values = Get<List<object>>(key);
            bool isValid = values.TrueForAll(
                value => value is double && !double.IsNaN((double)value) && !double.IsInfinity((double)value));
            if (count.HasValue && values.Count != count || !isValid)
                throw Invalid(key);
            return values.ConvertAll(value => (double)value).ToArray();
        }

        internal int[] Integers(string key, int? count) =>
            Array.ConvertAll(Numbers(key, count), number => Whole(number, key));

        internal string[] Strings(string key)
        {
            List<object> values = Get<List<object>>(key);
            if (values.Exists(value => !(value is string)))
                throw Invalid(key);
            return values.ConvertAll(value => (string)value).ToArray();
        }

        /// <summary>A list of lists of `count` numbers.</summary>
        internal List<double[]> Rows(string key, int count)
        {
            var rows = new List<double[]>();
            foreach (object value in Get<List<object>>(key))
            {
                var row = value as List<object>;
                if (row == null || row.Count != count)
                    throw Invalid(key);
                var numbers = new double[count];
                for (int i = 0; i < count; i++)
                {
                    if (!(row[i] is double) || !(Math.Abs(numbers[i] = (double)row[i]) <= MaxNumber))
                        throw Invalid(key);
                }
                rows.Add(numbers);
            }
            return rows;
        }

        /// <summary>The largest number of a row. NaN and infinity are not below it.</summary>
        private const double MaxNumber = 1e9;

        /// <summary>A colour such as "#4a7a32".</summary>
        internal void Colour(string key, out byte red, out byte green, out byte blue)
        {
            string color = String(key);
            string digits = color.Length == 7 && color[0] == '#' ? color.Substring(1) : "";
            uint rgb;
            if (!uint.TryParse(digits, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out rgb))
                throw new ExportException($"\"{color}\" is not a colour");
            red = (byte)(rgb >> 16);
            green = (byte)(rgb >> 8);
            blue = (byte)rgb;
        }

        internal List<JsonObject> Objects(string key)
        {
            List<object> values = Get<List<object>>(key);
            if (values.Exists(value => !(value is JsonObject)))
                throw Invalid(key);
            return values.ConvertAll(value => (JsonObject)value);
        }
    }

    /// <summary>
    /// Reads JSON (RFC 8259). JsonUtility cannot tell a water level of 0 m from none, because it has no null numbers.
    /// </summary>
    internal sealed class Json
    {
        /// <summary>The deepest nesting. A manifest has four levels.</summary>
        private const int MaxDepth = 32;

        private readonly string text, file;
        private int at;

        private Json(string text, string file)
        {
            this.text = text;
            this.file = file;
        }

        /// <summary>Reads the text of a file, which errors name.</summary>
        internal static JsonObject Parse(string text, string file)
        {
            var reader = new Json(text, file);
            var json = reader.Value(0) as JsonObject;
            reader.Space();
            if (json == null || reader.at != text.Length)
                throw reader.Invalid();
            return json;
        }

        private ExportException Invalid() =>
            new ExportException($"{file} is not valid JSON, from character {at + 1} on");

        private void Space()
        {
            while (at < text.Length && " \t\r\n\uFEFF".IndexOf(text[at]) >= 0)
                at++;
        }

        private char Next()
        {
            Space();
            if (at == text.Length)
                throw Invalid();
            return text[at];
        }

        private void Expect(string word)
        {
            if (string.CompareOrdinal(text, at, word, 0, word.Length) != 0)
                throw Invalid();
            at += word.Length;
        }

        private object Value(int depth)
        {
            if (depth > MaxDepth)
                throw Invalid();
            switch (Next())
            {
                case '{':
                    return Object(depth);
                case '[':
                    return List(depth);
                case '"':
                    return Text();
                case 't':
                    Expect("true");
                    return true;
                case 'f':
                    Expect("false");
                    return false;
                case 'n':
                    Expect("null");
                    return null;
                default:
                    return Number();
            }
        }

        private JsonObject Object(int depth)
        {
            var members = new Dictionary<string, object>();
            at++;
            while (Next() != '}')
            {
                if (members.Count > 0)
                {
                    Expect(",");
                    Next();
                }
                string key = Text();
                Next();
                Expect(":");
                members[key] = Value(depth + 1);
            }
            at++;
            return new JsonObject(members, file);
        }

        private List<object> List(int depth)
        {
            var values = new List<object>();
            at++;
            while (Next() != ']')
            {
                if (values.Count > 0)
                    Expect(",");
                values.Add(Value(depth + 1));
            }
            at++;
            return values;
        }

        private string Text()
        {
            Expect("\"");
            var read = new StringBuilder();
            while (at < text.Length && text[at] != '"')
            {
                char letter = text[at++];
                if (letter != '\\')
                {
                    read.Append(letter);
                    continue;
                }
                char escape = at < text.Length ? text[at++] : ' ';
                int plain = "\"\\/bfnrt".IndexOf(escape);
                int code;
                if (plain >= 0)
                    read.Append("\"\\/\b\f\n\r\t"[plain]);
                else if (escape == 'u' && at + 4 <= text.Length && int.TryParse(
                    text.Substring(at, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out code))
                {
                    read.Append((char)code);
                    at += 4;
                }
                else
                    throw Invalid();
            }
            Expect("\"");
            return read.ToString();
        }

        private double Number()
        {
            int start = at;
            while (at < text.Length && "+-.eE0123456789".IndexOf(text[at]) >= 0)
                at++;
            string digits = text.Substring(start, at - start);
            double number;
            if (double.TryParse(digits, NumberStyles.Float, CultureInfo.InvariantCulture, out number))
                return number;
            throw Invalid();
        }
    }

    /// <summary>A tile, and which of its files have to be imported.</summary>
    internal sealed class TileUpdate
    {
        internal HeightmapFile Heightmap;
        internal List<WeightsFile> WeightsFiles;
        internal bool HasNewHeights, HasNewWeights, HasNewTrees;
    }

    /// <summary>The layers of a TerrainData that the user added, and their weights.</summary>
    internal sealed class UserLayers
    {
        internal readonly List<TerrainLayer> Layers = new List<TerrainLayer>();
        /// <summary>The weights of each layer from 0 to 255, as Unity stores them; the southern row first.</summary>
        private readonly List<byte[]> weights = new List<byte[]>();
        private readonly int size;

        /// <summary>Reads the layers that are not imported, some rows at once.</summary>
        internal UserLayers(TerrainData data, Predicate<TerrainLayer> isImported, int rowsAtOnce)
        {
            size = data.alphamapResolution;
            var channels = new List<int>();
            TerrainLayer[] layers = data.terrainLayers;
            for (int channel = 0; channel < layers.Length; channel++)
                if (layers[channel] != null && !isImported(layers[channel]))
                {
                    Layers.Add(layers[channel]);
                    channels.Add(channel);
                    weights.Add(new byte[size * size]);
                }
            for (int first = 0; Layers.Count > 0 && first < size; first += rowsAtOnce)
            {
                int rows = Math.Min(rowsAtOnce, size - first);
                float[,,] alphamaps = data.GetAlphamaps(0, first, size, rows);
                for (int layer = 0; layer < channels.Count; layer++)
                    for (int z = 0; z < rows; z++)
                        for (int x = 0; x < size; x++)
                            weights[layer][(first + z) * size + x] =
                                (byte)Math.Round(255 * alphamaps[z, x, channels[layer]]);
            }
        }

        /// <summary>
        /// Writes the weights into the channels after those of `imported` layers, and scales those down, so that the
        /// sum stays 1. `resolution` is that of the new alphamaps, and `first` their first row from the south.
        /// </summary>
        internal void AddTo(float[,,] alphamaps, int imported, int resolution, int first)
        {
            for (int z = 0; Layers.Count > 0 && z < alphamaps.GetLength(0); z++)
                for (int x = 0; x < resolution; x++)
                {
                    int at = (first + z) * size / resolution * size + x * size / resolution;
                    float rest = 1;
                    for (int layer = 0; layer < Layers.Count; layer++)
                    {
                        float weight = Math.Min(weights[layer][at] / 255f, rest);
                        alphamaps[z, x, imported + layer] = weight;
                        rest -= weight;
                    }
                    for (int layer = 0; layer < imported; layer++)
                        alphamaps[z, x, layer] *= rest;
                }
        }
    }

    /// <summary>The last import of a manifest.</summary>
    internal sealed class Attempt
    {
        /// <summary>The modification time of the manifest before it was read.</summary>
        internal DateTime Time;
        /// <summary>The message of the failure, or null.</summary>
        internal string Error;
        /// <summary>When to try again after a failure, and how long to wait until then.</summary>
        internal double RetryAt, Wait;
    }

    /// <summary>Makes terrains from exports, and keeps them up to date.</summary>
    [InitializeOnLoad]
    internal static class TerrainImporter
    {
        private const string ImportMenu = "Assets/Upthrust/Import terrain…";
        private const string ReloadMenu = "Assets/Upthrust/Reload when the export changes";

        private const string WaterName = "Water";

        /// <summary>The file with the names of the objects that an import has hidden, as opposed to the user.</summary>
        private const string HiddenName = "hidden.txt";

        /// <summary>The folder of everything that is imported.</summary>
        private const string AssetFolder = "Assets/Upthrust";

        // Kept for this project and this user: the folders of assets and the manifests that they were imported from.
        private const string ExportsSetting = "Upthrust.Exports";
        private const string ReloadSetting = "Upthrust.Reload";

        private const double SecondsBetweenChecks = 0.5;

        /// <summary>
        /// The time until the next attempt after a failure, which doubles every time: another program may lock a file.
        /// </summary>
        private const double FirstRetrySeconds = 1, MaxRetrySeconds = 60;

        /// <summary>
        /// Modification times may count whole or even two seconds: a file that changed this recently may have changed
        /// again at the same time.
        /// </summary>
        private const double RecentSeconds = 3;

        /// <summary>Rows of weights that are converted at once. All rows together would take gigabytes.</summary>
        private const int RowsAtOnce = 64;

        /// <summary>The side of the texture of a layer in the world.</summary>
        private const float LayerTileM = 10;

        private static double nextCheck;

        /// <summary>
        /// The last attempts by the paths of the manifests. Unity forgets them when it compiles scripts.
        /// </summary>
        private static readonly Dictionary<string, Attempt> Attempts = new Dictionary<string, Attempt>();

        static TerrainImporter()
        {
            EditorApplication.update += CheckForChanges;
        }

        [MenuItem(ImportMenu)]
        private static void ImportChosen()
        {
            string path = EditorUtility.OpenFilePanel("Import Upthrust terrain", "", "json");
            if (string.IsNullOrEmpty(path))
                return;
            try
            {
                EditorUtility.DisplayProgressBar("Upthrust", "Importing the terrain", 0.5f);
                Import(path, true);
            }
            catch (ExportException error)
            {
                EditorUtility.DisplayDialog("Upthrust", $"The terrain was not imported: {error.Message}.", "OK");
            }
            finally
            {
                EditorUtility.ClearProgressBar();
            }
        }

        [MenuItem(ReloadMenu)]
        private static void ToggleReload()
        {
            EditorUserSettings.SetConfigValue(ReloadSetting, Reloads ? "off" : "on");
        }

        [MenuItem(ReloadMenu, true)]
        private static bool ShowReload()
        {
            Menu.SetChecked(ReloadMenu, Reloads);
            return true;
        }

        private static bool Reloads => EditorUserSettings.GetConfigValue(ReloadSetting) == "on";

        /// <summary>The manifests by their folders of assets.</summary>
        private static Dictionary<string, string> Exports()
        {
            var exports = new Dictionary<string, string>();
            foreach (string line in (EditorUserSettings.GetConfigValue(ExportsSetting) ?? "").Split('\n'))
            {
                string[] parts = line.Split('\t');
                if (parts.Length == 2)
                    exports[parts[0]] = parts[1];
            }
            return exports;
        }

        /// <summary>
        /// The folder of the assets of an export: the one that this manifest has, or one that no other manifest has.
        /// Exports with the same name, or without one, must not replace each other's assets.
        /// </summary>
        private static string FolderOf(Export export, string path)
        {
            Dictionary<string, string> exports = Exports();
            foreach (KeyValuePair<string, string> other in exports)
                if (other.Value == path)
                    return other.Key;
            var taken = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
            foreach (KeyValuePair<string, string> other in exports)
                if (File.Exists(other.Value))
                    taken.Add(other.Key);
            string first = AssetFolder + "/" + Export.FileName(export.Name), folder = first;
            for (int number = 2; taken.Contains(folder); number++)
                folder = first + " " + number;
            return folder;
        }

        /// <summary>Remembers the manifest of a folder, or forgets the folder if `path` is null.</summary>
        private static void Remember(string folder, string path)
        {
            Dictionary<string, string> exports = Exports();
            if (path == null)
                exports.Remove(folder);
            else
                exports[folder] = path;
            var lines = new List<string>();
            foreach (KeyValuePair<string, string> export in exports)
                lines.Add(export.Key + "\t" + export.Value);
            EditorUserSettings.SetConfigValue(ExportsSetting, string.Join("\n", lines.ToArray()));
        }

        /// <summary>Imports exports whose manifests have changed.</summary>
        private static void CheckForChanges()
        {
            if (EditorApplication.timeSinceStartup < nextCheck)
                return;
            nextCheck = EditorApplication.timeSinceStartup + SecondsBetweenChecks;
            bool isBusy = EditorApplication.isPlayingOrWillChangePlaymode || EditorApplication.isCompiling ||
                EditorApplication.isUpdating;
            if (isBusy || !Reloads)
                return;
            foreach (KeyValuePair<string, string> export in Exports())
                ImportIfChanged(export.Key, export.Value);
        }

        private static void ImportIfChanged(string folder, string path)
        {
            if (!AssetDatabase.IsValidFolder(folder))
            {
                Remember(folder, null);
                Debug.LogWarning($"Upthrust: {folder} was deleted or moved; {path} is not reloaded any more.");
                return;
            }
            if (!File.Exists(path))
                return;
            DateTime time = File.GetLastWriteTimeUtc(path);
            Attempt last;
            bool isKnown = Attempts.TryGetValue(path, out last) && last.Time == time;
            bool isRecent = (DateTime.UtcNow - time).TotalSeconds < RecentSeconds;
            if (isKnown && last.Error == null && !isRecent)
                return;
            if (isKnown && last.Error != null && EditorApplication.timeSinceStartup < last.RetryAt)
                return;
            try
            {
                if (IsSame(path, folder + "/" + Export.ManifestName))
                    Attempts[path] = new Attempt { Time = time };
                else
                    Import(path, false);
            }
            catch (Exception error)
            {
                double wait = isKnown && last.Error != null ? last.Wait * 2 : FirstRetrySeconds;
                wait = Math.Min(wait, MaxRetrySeconds);
                if (!isKnown || last.Error != error.Message)
                    Debug.LogError($"Upthrust: {path} was not reloaded: {error.Message}.");
                Attempts[path] = new Attempt
                {
                    Time = time,
                    Error = error.Message,
                    Wait = wait,
                    RetryAt = EditorApplication.timeSinceStartup + wait,
                };
            }
        }

        private static bool IsSame(string path, string other) =>
            File.Exists(other) && File.ReadAllText(path) == File.ReadAllText(other);

        /// <summary>
        /// Imports an export. Everything is read and checked before anything is changed. `isManual`: the user asked for
        /// it, so a terrain that is in no open scene gets objects, which Undo removes.
        /// </summary>
        internal static void Import(string path, bool isManual)
        {
            path = Path.GetFullPath(path).Replace('\\', '/');
            DateTime time = File.GetLastWriteTimeUtc(path);
            Export export = Export.Read(path);
            string folder = FolderOf(export, path);
            Export previous = Imported(folder);
            List<TileUpdate> tiles = Prepare(export, previous, folder);
            bool readsScatter = export.Scatter != null && tiles.Exists(tile => tile.HasNewTrees);
            List<ScatterLayer> scatter =
                readsScatter ? export.Scatter.ReadLayers(export.Folder) : new List<ScatterLayer>();

            MakeFolder(folder + "/Layers");
            // If anything fails from here on, all files are imported the next time.
            if (previous != null && tiles.Exists(tile => tile.HasNewHeights || tile.HasNewWeights || tile.HasNewTrees))
                WriteRecord(folder, previous.WithoutChecksums());
            var assets = new List<UnityEngine.Object>();
            TerrainLayer[] layers = MakeLayers(export, folder, assets);
            Predicate<TerrainLayer> isImported = ImportedLayers(export, previous, folder);
            List<GameObject> prefabs = MakePrefabs(scatter, folder, assets);
            var data = new Dictionary<HeightmapFile, TerrainData>();
            foreach (TileUpdate tile in tiles)
            {
                string dataPath = DataPath(export, folder, tile.Heightmap);
                data[tile.Heightmap] = Apply(export, tile, layers, isImported, dataPath);
                if (tile.HasNewTrees)
                    SetTrees(export, tile.Heightmap, data[tile.Heightmap], scatter, prefabs, folder);
            }
            assets.AddRange(data.Values);
            // The places of the tiles are compared with those of this export the next time, even if something fails.
            WriteRecord(folder, export.WithoutChecksums());
            PlaceObjects(export, previous, folder, data, isManual, assets);
            foreach (UnityEngine.Object asset in assets)
                AssetDatabase.SaveAssetIfDirty(asset);
            // Last, so that whatever fails is imported again.
            WriteRecord(folder, export.Source);
            AssetDatabase.ImportAsset(folder + "/" + Export.ManifestName);
            Attempts[path] = new Attempt { Time = time };
            Remember(folder, path);
        }

        /// <summary>
        /// Writes the manifest of what was imported. The file is replaced as a whole, and Unity ignores names that
        /// begin with a dot.
        /// </summary>
        private static void WriteRecord(string folder, byte[] manifest)
        {
            string path = folder + "/" + Export.ManifestName, temporary = folder + "/." + Export.ManifestName;
            File.WriteAllBytes(temporary, manifest);
            if (File.Exists(path))
                File.Replace(temporary, path, null);
            else
                File.Move(temporary, path);
        }

        private static T Load<T>(string path) where T : UnityEngine.Object =>
            AssetDatabase.LoadAssetAtPath(path, typeof(T)) as T;

        /// <summary>The asset of a tile. Tiles are counted eastward and northward, as their files are.</summary>
        private static string DataPath(Export export, string folder, HeightmapFile file) =>
            $"{folder}/{TileName(export, file)}.asset";

        private static string TileName(Export export, HeightmapFile file) =>
            TileName(file.TileColumn, export.Rows - 1 - file.TileRow);

        private static string TileName(int x, int z) => $"Terrain {x}_{z}";

        /// <summary>The export that was imported into a folder before, or null.</summary>
        private static Export Imported(string folder)
        {
            string path = folder + "/" + Export.ManifestName;
            try
            {
                return File.Exists(path) ? Export.Read(path) : null;
            }
            catch (ExportException)
            {
                return null;
            }
        }

        /// <summary>The names of the objects that an import has hidden.</summary>
        private static HashSet<string> Hidden(string folder)
        {
            string path = folder + "/" + HiddenName;
            return new HashSet<string>(File.Exists(path) ? File.ReadAllLines(path) : new string[0]);
        }

        private static void RememberHidden(string folder, HashSet<string> hidden)
        {
            if (hidden.SetEquals(Hidden(folder)))
                return;
            var names = new List<string>(hidden);
            names.Sort(StringComparer.Ordinal);
            File.WriteAllText(folder + "/" + HiddenName, string.Join("\n", names.ToArray()));
            AssetDatabase.ImportAsset(folder + "/" + HiddenName);
        }

        /// <summary>
        /// Hides an object that an export no longer has. One that the user has hidden is not remembered, so no import
        /// shows it.
        /// </summary>
        private static void Hide(GameObject item, string name, HashSet<string> hidden)
        {
            if (!item.activeSelf)
                return;
            item.SetActive(false);
            hidden.Add(name);
        }

        /// <summary>Shows an object again if an import has hidden it.</summary>
        private static void Show(GameObject item, string name, HashSet<string> hidden)
        {
            if (hidden.Remove(name))
                item.SetActive(true);
        }

        /// <summary>
        /// Finds out which files have to be imported, and reads, checks and decodes each of them. They are read again
        /// when they are imported, because all of them together can take gigabytes.
        /// </summary>
        private static List<TileUpdate> Prepare(Export export, Export previous, string folder)
        {
            Dictionary<string, string> imported =
                previous != null ? previous.Checksums() : new Dictionary<string, string>();
            Predicate<ExportFile> isImported = file =>
            {
                string crc32;
                return imported.TryGetValue(file.Name, out crc32) && crc32 == file.Crc32;
            };
            bool hasSameLayers = previous != null &&
                string.Join("/", previous.LayerNames().ToArray()) == string.Join("/", export.LayerNames().ToArray());
            var tiles = new List<TileUpdate>();
            foreach (HeightmapFile heightmap in export.Heightmaps)
            {
                var tile = new TileUpdate { Heightmap = heightmap, WeightsFiles = export.WeightsOf(heightmap) };
                TerrainData data = Load<TerrainData>(DataPath(export, folder, heightmap));
                tile.HasNewHeights =
                    data == null || data.heightmapResolution != heightmap.Width || !isImported(heightmap);
                if (tile.HasNewHeights)
                    heightmap.ReadHeights(export.Folder);
                bool hasSameWeights = data != null && hasSameLayers &&
                    tile.WeightsFiles.TrueForAll(file => data.alphamapResolution == file.Width && isImported(file));
                tile.HasNewWeights = !hasSameWeights && tile.WeightsFiles.Count > 0;
                if (tile.HasNewWeights)
                    tile.WeightsFiles.ForEach(file => file.ReadWeights(export.Folder));
                // Without a file, the trees of an earlier export are removed.
                tile.HasNewTrees = export.Scatter != null
                    ? tile.HasNewHeights || !isImported(export.Scatter)
                    : previous != null && previous.Scatter != null;
                if (tile.WeightsFiles.Exists(file => file.Width != tile.WeightsFiles[0].Width))
                    throw new ExportException("the weights of a tile have different sizes");
                tiles.Add(tile);
            }
            return tiles;
        }

        private static void MakeFolder(string path)
        {
            if (AssetDatabase.IsValidFolder(path))
                return;
            int slash = path.LastIndexOf('/');
            MakeFolder(path.Substring(0, slash));
            AssetDatabase.CreateFolder(path.Substring(0, slash), path.Substring(slash + 1));
        }

        private static string LayerPath(string folder, string name) => $"{folder}/Layers/{name}.terrainlayer";

        /// <summary>Whether a layer belongs to this export or to the previous one; the user added all others.</summary>
        private static Predicate<TerrainLayer> ImportedLayers(Export export, Export previous, string folder)
        {
            var paths = new HashSet<string>();
            foreach (Export each in new[] { export, previous })
                if (each != null)
                    foreach (string name in each.LayerNames())
                        paths.Add(LayerPath(folder, name));
            return layer => paths.Contains(AssetDatabase.GetAssetPath(layer));
        }

        /// <summary>
        /// A layer for each type, with a texture of its colour. Layers that exist keep the textures that the user gave
        /// them.
        /// </summary>
        private static TerrainLayer[] MakeLayers(Export export, string folder, List<UnityEngine.Object> assets)
        {
            var layers = new List<TerrainLayer>();
            List<int> types = export.Layers();
            List<string> names = export.LayerNames();
            for (int i = 0; i < types.Count; i++)
            {
                TerrainType type = export.Types[types[i]];
                string texturePath = $"{folder}/Layers/{names[i]} colour.asset";
                TerrainLayer layer = Load<TerrainLayer>(LayerPath(folder, names[i]));
                Texture2D texture = Load<Texture2D>(texturePath);
                if (texture == null)
                {
                    texture = new Texture2D(4, 4, TextureFormat.RGBA32, true);
                    AssetDatabase.CreateAsset(texture, texturePath);
                }
                var colours = new Color32[16];
                for (int pixel = 0; pixel < colours.Length; pixel++)
                    colours[pixel] = new Color32(type.Red, type.Green, type.Blue, 255);
                texture.SetPixels32(colours);
                texture.Apply();
                EditorUtility.SetDirty(texture);
                if (layer == null)
                {
                    layer = new TerrainLayer
                    {
                        diffuseTexture = texture,
                        tileSize = new Vector2(LayerTileM, LayerTileM),
                        smoothness = 0,
                    };
                    AssetDatabase.CreateAsset(layer, LayerPath(folder, names[i]));
                }
                assets.Add(texture);
                assets.Add(layer);
                layers.Add(layer);
            }
            return layers.ToArray();
        }

        /// <summary>Makes or updates the TerrainData of a tile.</summary>
        private static TerrainData Apply(
            Export export, TileUpdate tile, TerrainLayer[] layers, Predicate<TerrainLayer> isImported, string path)
        {
            HeightmapFile heightmap = tile.Heightmap;
            TerrainData data = Load<TerrainData>(path);
            if (data == null)
            {
                data = new TerrainData { heightmapResolution = heightmap.Width };
                AssetDatabase.CreateAsset(data, path);
            }
            // A new resolution changes the size, so the size comes second.
            if (data.heightmapResolution != heightmap.Width)
                data.heightmapResolution = heightmap.Width;
            data.size = new Vector3(
                (float)((heightmap.Width - 1) * export.SpacingXM), (float)heightmap.SizeM,
                (float)((heightmap.Height - 1) * export.SpacingZM));
            if (tile.HasNewHeights)
                data.SetHeights(0, 0, Conversion.Heights(heightmap, heightmap.ReadHeights(export.Folder)));
            if (tile.HasNewWeights)
                SetWeights(export, tile, layers, isImported, data);
            EditorUtility.SetDirty(data);
            return data;
        }

        /// <summary>Sets the layers and their weights. Layers that the user added follow, with their weights.</summary>
        private static void SetWeights(
            Export export, TileUpdate tile, TerrainLayer[] imported, Predicate<TerrainLayer> isImported,
            TerrainData data)
        {
            List<PngImage> images = tile.WeightsFiles.ConvertAll(file => file.ReadWeights(export.Folder));
            var others = new UserLayers(data, isImported, RowsAtOnce);
            var layers = new List<TerrainLayer>(imported);
            layers.AddRange(others.Layers);
            int size = tile.WeightsFiles[0].Width;
            data.alphamapResolution = size;
            data.terrainLayers = layers.ToArray();
            List<int> types = export.Layers();
            for (int z = 0; z < size; z += RowsAtOnce)
            {
                int rows = Math.Min(RowsAtOnce, size - z);
                float[,,] alphamaps =
                    Conversion.Alphamaps(tile.WeightsFiles, images, types, z, rows, layers.Count);
                others.AddTo(alphamaps, imported.Length, size, z);
                data.SetAlphamaps(0, z, alphamaps);
            }
        }

        private static string PrefabFolder(string folder) => folder + "/Scatter";

        /// <summary>
        /// A prefab for each scatter layer, with a placeholder shape. Prefabs that exist stay as the user has made
        /// them. </summary>
        private static List<GameObject> MakePrefabs(
            List<ScatterLayer> layers, string folder, List<UnityEngine.Object> assets)
        {
            var prefabs = new List<GameObject>();
            List<string> names = Export.FileNames(layers.ConvertAll(layer => layer.Name));
            if (layers.Count > 0)
                MakeFolder(PrefabFolder(folder));
            for (int i = 0; i < layers.Count; i++)
            {
                string stem = PrefabFolder(folder) + "/" + names[i];
                var prefab = Load<GameObject>(stem + ".prefab");
                prefabs.Add(prefab != null ? prefab : MakePrefab(layers[i], stem, assets));
            }
            return prefabs;
        }

        private static GameObject MakePrefab(ScatterLayer layer, string stem, List<UnityEngine.Object> assets)
        {
            // The material of a new cube suits the render pipeline of the project.
            GameObject made = GameObject.CreatePrimitive(PrimitiveType.Cube);
            UnityEngine.Object.DestroyImmediate(made.GetComponent<Collider>());
            List<Vector3> corners = StandIn.Corners(layer);
            var triangles = new int[corners.Count];
            for (int i = 0; i < triangles.Length; i++)
                triangles[i] = i;
            var mesh = new Mesh { vertices = corners.ToArray(), triangles = triangles };
            mesh.RecalculateNormals();
            mesh.RecalculateBounds();
            AssetDatabase.CreateAsset(mesh, stem + " mesh.asset");
            MeshRenderer renderer = made.GetComponent<MeshRenderer>();
            var material = new Material(renderer.sharedMaterial)
            {
                color = new Color(layer.Red / 255f, layer.Green / 255f, layer.Blue / 255f, 1),
            };
            AssetDatabase.CreateAsset(material, stem + ".mat");
            made.GetComponent<MeshFilter>().sharedMesh = mesh;
            renderer.sharedMaterial = material;
            // Unity offers the rotation of trees only for prefabs with a LOD group.
            LODGroup group = made.AddComponent<LODGroup>();
            group.SetLODs(new[] { new LOD(0.005f, new Renderer[] { renderer }) });
            group.RecalculateBounds();
            GameObject prefab = PrefabUtility.SaveAsPrefabAsset(made, stem + ".prefab");
            UnityEngine.Object.DestroyImmediate(made);
            assets.Add(mesh);
            assets.Add(material);
            return prefab;
        }

        /// <summary>
        /// Replaces the trees that were imported into a tile. Those of prefabs elsewhere are the user's and stay.
        /// </summary>
        private static void SetTrees(
            Export export, HeightmapFile file, TerrainData data, List<ScatterLayer> layers, List<GameObject> prefabs,
            string folder)
        {
            TreePrototype[] before = data.treePrototypes;
            var prototypes = new List<TreePrototype>();
            foreach (GameObject prefab in prefabs)
                prototypes.Add(
                    Array.Find(before, each => each.prefab == prefab) ?? new TreePrototype { prefab = prefab });
            var numbers = new int[before.Length];
            for (int i = 0; i < before.Length; i++)
            {
                bool isImported = AssetDatabase.GetAssetPath(before[i].prefab).StartsWith(
                    PrefabFolder(folder) + "/", StringComparison.Ordinal);
                numbers[i] = isImported ? -1 : prototypes.Count;
                if (!isImported)
                    prototypes.Add(before[i]);
            }
            var trees = new List<TreeInstance>();
            foreach (TreeInstance tree in data.treeInstances)
                if (numbers[tree.prototypeIndex] >= 0)
                {
                    TreeInstance kept = tree;
                    kept.prototypeIndex = numbers[tree.prototypeIndex];
                    trees.Add(kept);
                }
            for (int layer = 0; layer < layers.Count; layer++)
                foreach (double[] instance in layers[layer].Instances)
                {
                    double east = (instance[0] / export.SpacingXM - file.FirstColumn) / (file.Width - 1);
                    double south = (instance[2] / export.SpacingZM - file.FirstRow) / (file.Height - 1);
                    // An instance on the border of two tiles stands on the eastern or the southern one.
                    bool isInside = east >= 0 && south >= 0 &&
                        (east < 1 || file.TileColumn == export.Columns - 1) &&
                        (south < 1 || file.TileRow == export.Rows - 1);
                    if (isInside)
                        trees.Add(Tree(layer, instance, east, south, file));
                }
            // A tree must not refer to a prototype that is gone.
            data.SetTreeInstances(new TreeInstance[0], false);
            data.treePrototypes = prototypes.ToArray();
            data.SetTreeInstances(trees.ToArray(), false);
            EditorUtility.SetDirty(data);
        }

        /// <summary>
        /// Trees of a terrain turn about the vertical only, clockwise from above. Their places are shares of its size.
        /// </summary>
        private static TreeInstance Tree(int layer, double[] instance, double east, double south, HeightmapFile file)
        {
            return new TreeInstance
            {
                prototypeIndex = layer,
                position = new Vector3(
                    (float)Math.Min(east, 1), (float)((instance[1] - file.MinM) / file.SizeM),
                    (float)(1 - Math.Min(south, 1))),
                rotation = (float)(instance[3] * Math.PI / 180),
                widthScale = (float)instance[6],
                heightScale = (float)instance[6],
                color = new Color32(255, 255, 255, 255),
                lightmapColor = new Color32(255, 255, 255, 255),
            };
        }

        /// <summary>The terrains of the open scenes, by their data.</summary>
        private static Dictionary<TerrainData, Terrain> OpenTerrains()
        {
            var terrains = new Dictionary<TerrainData, Terrain>();
            foreach (UnityEngine.Object found in Resources.FindObjectsOfTypeAll(typeof(Terrain)))
            {
                var terrain = (Terrain)found;
                // Prefabs are assets, not parts of a scene.
                if (terrain.terrainData != null && !EditorUtility.IsPersistent(terrain))
                    terrains[terrain.terrainData] = terrain;
            }
            return terrains;
        }

        /// <summary>The place of a tile in the object above the tiles: x is east, y is up, z is north.</summary>
        private static Vector3 PlaceOf(Export export, HeightmapFile file) =>
            new Vector3((float)export.EastM(file), (float)file.MinM, (float)export.NorthM(file));

        /// <summary>Makes the objects that are missing in the scene, and places all of them.</summary>
        private static void PlaceObjects(
            Export export, Export previous, string folder, Dictionary<HeightmapFile, TerrainData> data, bool isManual,
            List<UnityEngine.Object> assets)
        {
            Dictionary<TerrainData, Terrain> open = OpenTerrains();
            Terrain first = null;
            Transform parent = null;
            HeightmapFile firstFile = null;
            foreach (KeyValuePair<HeightmapFile, TerrainData> tile in data)
            {
                Terrain terrain;
                if (parent != null || !open.TryGetValue(tile.Value, out terrain))
                    continue;
                parent = terrain.transform.parent;
                if (first != null && parent == null)
                    continue;
                first = terrain;
                firstFile = tile.Key;
            }
            if (first == null && !isManual)
                return;
            // How far the user has moved the tiles within their object.
            Vector3 shift = first != null ? ShiftOf(export, previous, first, firstFile) : default(Vector3);
            if (parent == null)
            {
                parent = MakeParent(folder, first, shift, isManual);
                shift = default(Vector3);
            }
            HashSet<string> hidden = Hidden(folder);
            var terrains = new Dictionary<string, Terrain>();
            foreach (KeyValuePair<HeightmapFile, TerrainData> tile in data)
            {
                HeightmapFile file = tile.Key;
                Terrain terrain;
                if (!open.TryGetValue(tile.Value, out terrain))
                {
                    GameObject made = Terrain.CreateTerrainGameObject(tile.Value);
                    made.name = TileName(export, file);
                    RegisterMade(made, isManual);
                    terrain = made.GetComponent<Terrain>();
                }
                // A tile that the user has put under another object than the first tile stays where it is.
                if (terrain.transform.parent == null)
                    terrain.transform.SetParent(parent, false);
                if (terrain.transform.parent == parent)
                    terrain.transform.localPosition = PlaceOf(export, file) + shift;
                // Neighbours are not saved with a scene; Unity connects terrains of a group again when it opens one.
                terrain.allowAutoConnect = true;
                terrain.groupingID = (int)(Checksum.Number(Encoding.UTF8.GetBytes(folder)) & 0x3FFFFFFF);
                terrains[file.TileColumn + "," + file.TileRow] = terrain;
                Show(terrain.gameObject, TileName(export, file), hidden);
                terrain.Flush();
                MarkDirty(terrain.gameObject);
            }
            HideOldTiles(export, folder, open, hidden);
            Connect(data.Keys, terrains);
            // Water that was there before and is gone was deleted by the user.
            bool makesWater = first == null || previous == null || !previous.WaterM.HasValue;
            PlaceWater(export, folder, parent, shift, makesWater, isManual, hidden, assets);
            RememberHidden(folder, hidden);
            MarkDirty(parent.gameObject);
        }

        private static void MarkDirty(GameObject item)
        {
            if (!EditorApplication.isPlayingOrWillChangePlaymode)
                EditorSceneManager.MarkSceneDirty(item.scene);
        }

        /// <summary>Lets the user undo that a manual import made an object.</summary>
        private static void RegisterMade(GameObject made, bool isManual)
        {
            if (isManual)
                Undo.RegisterCreatedObjectUndo(made, "Import Upthrust terrain");
        }

        /// <summary>How far a tile is from where the previous import has put it.</summary>
        private static Vector3 ShiftOf(Export export, Export previous, Terrain tile, HeightmapFile file)
        {
            string name = TileName(export, file);
            HeightmapFile before = previous?.Heightmaps.Find(each => TileName(previous, each) == name);
            return before == null ? default(Vector3) : tile.transform.localPosition - PlaceOf(previous, before);
        }

        /// <summary>
        /// Makes the object above the tiles. If there is a tile without one, the object is made in the scene of the
        /// tile and placed so that the tile does not move.
        /// </summary>
        private static Transform MakeParent(string folder, Terrain tile, Vector3 shift, bool isManual)
        {
            var made = new GameObject(folder.Substring(folder.LastIndexOf('/') + 1));
            RegisterMade(made, isManual);
            if (tile != null)
                SceneManager.MoveGameObjectToScene(made, tile.gameObject.scene);
            made.transform.localPosition = shift;
            return made.transform;
        }

        /// <summary>Hides the tiles of an earlier export that had more of them.</summary>
        private static void HideOldTiles(
            Export export, string folder, Dictionary<TerrainData, Terrain> open, HashSet<string> hidden)
        {
            var names = new HashSet<string>();
            for (int x = 0; x < export.Columns; x++)
                for (int z = 0; z < export.Rows; z++)
                    names.Add($"{folder}/{TileName(x, z)}.asset");
            foreach (KeyValuePair<TerrainData, Terrain> tile in open)
            {
                string path = AssetDatabase.GetAssetPath(tile.Key);
                if (path.StartsWith(folder + "/", StringComparison.Ordinal) && !names.Contains(path))
                    Hide(tile.Value.gameObject, Path.GetFileNameWithoutExtension(path), hidden);
            }
        }

        private static void Connect(IEnumerable<HeightmapFile> files, Dictionary<string, Terrain> terrains)
        {
            Func<int, int, Terrain> at = (column, row) =>
            {
                Terrain terrain;
                return terrains.TryGetValue(column + "," + row, out terrain) ? terrain : null;
            };
            foreach (HeightmapFile file in files)
            {
                int column = file.TileColumn, row = file.TileRow;
                // Left, top, right, bottom; the top is the north, where rows begin.
                at(column, row).SetNeighbors(
                    at(column - 1, row), at(column, row - 1), at(column + 1, row), at(column, row + 1));
            }
        }

        /// <summary>
        /// The water of a terrain in the open scenes, or null. It is found by its mesh, so that other objects with the
        /// same name are left alone.
        /// </summary>
        private static Transform FindWater(Mesh mesh, Transform parent)
        {
            Transform water = null;
            foreach (UnityEngine.Object found in Resources.FindObjectsOfTypeAll(typeof(MeshFilter)))
            {
                var filter = (MeshFilter)found;
                bool isWater = mesh != null && filter.sharedMesh == mesh && !EditorUtility.IsPersistent(filter);
                if (isWater && (water == null || filter.transform.parent == parent))
                    water = filter.transform;
            }
            return water;
        }

        /// <summary>A plane at the water level, as large as the terrain.</summary>
        private static void PlaceWater(
            Export export, string folder, Transform parent, Vector3 shift, bool makesWater, bool isManual,
            HashSet<string> hidden, List<UnityEngine.Object> assets)
        {
            Transform water = FindWater(Load<Mesh>(folder + "/Water.asset"), parent);
            if (!export.WaterM.HasValue)
            {
                if (water != null)
                    Hide(water.gameObject, WaterName, hidden);
                return;
            }
            if (water == null && !makesWater)
                return;
            if (water == null)
                water = MakeWater(folder, parent, isManual, assets);
            // Water that the user has put under another object stays where it is.
            if (water.parent == parent)
            {
                // Unity's plane is ten metres wide.
                water.localScale = new Vector3((float)(export.WidthM / 10), 1, (float)(export.DepthM / 10));
                var middle =
                    new Vector3((float)(export.WidthM / 2), (float)export.WaterM.Value, (float)(export.DepthM / 2));
                water.localPosition = middle + shift;
            }
            Show(water.gameObject, WaterName, hidden);
            MarkDirty(water.gameObject);
        }

        private static Transform MakeWater(
            string folder, Transform parent, bool isManual, List<UnityEngine.Object> assets)
        {
            GameObject made = GameObject.CreatePrimitive(PrimitiveType.Plane);
            made.name = WaterName;
            RegisterMade(made, isManual);
            // Objects fall through water.
            UnityEngine.Object.DestroyImmediate(made.GetComponent<Collider>());
            made.transform.SetParent(parent, false);
            MeshFilter filter = made.GetComponent<MeshFilter>();
            string meshPath = folder + "/Water.asset";
            Mesh mesh = Load<Mesh>(meshPath);
            if (mesh == null)
            {
                mesh = UnityEngine.Object.Instantiate(filter.sharedMesh);
                AssetDatabase.CreateAsset(mesh, meshPath);
            }
            filter.sharedMesh = mesh;
            MeshRenderer renderer = made.GetComponent<MeshRenderer>();
            string materialPath = folder + "/Water.mat";
            Material material = Load<Material>(materialPath);
            if (material == null)
            {
                // The material of a new plane suits the render pipeline of the project.
                material = new Material(renderer.sharedMaterial) { color = new Color(0.10f, 0.26f, 0.33f, 1) };
                AssetDatabase.CreateAsset(material, materialPath);
            }
            renderer.sharedMaterial = material;
            assets.Add(mesh);
            assets.Add(material);
            return made.transform;
        }
    }
}
