// Runs the importer against the stubs and compares what TerrainData holds with the heights of a .r32.
//
// Check.exe import MANIFEST HEIGHTS SIZES
// Check.exe reload FOLDER OTHER_FOLDER HEIGHTS OTHER_HEIGHTS SIZES
// Check.exe retile FOLDER OTHER_FOLDER HEIGHTS OTHER_HEIGHTS SIZES
// Check.exe twins FOLDER OTHER_FOLDER HEIGHTS OTHER_HEIGHTS SIZES
// Check.exe refuse MANIFEST [WORDS OF THE MESSAGE]
//
// SIZES: COLUMNS ROWS WIDTH_M DEPTH_M HEIGHT_RANGE_M
//
// Beside each PNG of weights lies NAME.rgba, its bytes as another library decoded them.

using System;
using System.Collections.Generic;
using System.IO;
using System.Text.RegularExpressions;
using UnityEditor;
using UnityEngine;

namespace Upthrust
{
    internal static class Check
    {
        private static bool failed;

        private static void Confirm(string what, bool isRight, object found)
        {
            if (isRight)
                return;
            Console.WriteLine("WRONG  " + what + ": " + found);
            failed = true;
        }

        private static float[] ReadFloats(string path)
        {
            byte[] bytes = File.ReadAllBytes(path);
            var floats = new float[bytes.Length / 4];
            Buffer.BlockCopy(bytes, 0, floats, 0, bytes.Length);
            return floats;
        }

        private sealed class World
        {
            internal float[] Heights;
            internal int Columns, Rows;
            internal double WidthM, DepthM, RangeM;

            internal World(string path, List<string> sizes)
            {
                Heights = ReadFloats(path);
                Columns = int.Parse(sizes[0]);
                Rows = int.Parse(sizes[1]);
                WidthM = double.Parse(sizes[2]);
                DepthM = double.Parse(sizes[3]);
                RangeM = double.Parse(sizes[4]);
            }
        }

        private static List<Terrain> Terrains()
        {
            var terrains = new List<Terrain>();
            foreach (UnityEngine.Object found in Resources.FindObjectsOfTypeAll(typeof(Terrain)))
                if (((Terrain)found).gameObject.IsActive)
                    terrains.Add((Terrain)found);
            return terrains;
        }

        /// <summary>Compares every stored height, where Unity would show it, with the height there.</summary>
        private static void CompareHeights(string what, World world)
        {
            double worst = 0, largest = 0;
            foreach (float height in world.Heights)
                largest = Math.Max(largest, Math.Abs(height));
            var seen = new bool[world.Heights.Length];
            foreach (Terrain terrain in Terrains())
            {
                TerrainData data = terrain.terrainData;
                Vector3 place = terrain.transform.localPosition;
                int steps = data.heightmapResolution - 1;
                for (int z = 0; z <= steps; z++)
                    for (int x = 0; x <= steps; x++)
                    {
                        double east = place.x + data.size.x * (double)x / steps;
                        double north = place.z + data.size.z * (double)z / steps;
                        double column = east / world.WidthM * (world.Columns - 1);
                        double row = (1 - north / world.DepthM) * (world.Rows - 1);
                        int at = (int)Math.Round(row) * world.Columns + (int)Math.Round(column);
                        bool isSample = Math.Abs(column - Math.Round(column)) + Math.Abs(row - Math.Round(row)) < 0.01;
                        if (!isSample || at < 0 || at >= seen.Length)
                        {
                            Confirm(what + " place", false, east + ", " + north);
                            return;
                        }
                        seen[at] = true;
                        double height = place.y + (double)data.Stored[z, x] / 32766 * data.size.y;
                        worst = Math.Max(worst, Math.Abs(height - world.Heights[at]));
                    }
            }
            Confirm(what + " covers the terrain", Array.TrueForAll(seen, it => it), "not all");
            double step = world.RangeM / 65535;
            // Half a step of Unity, which has 32766, half a step of the file, and positions of 32 bits.
            double allowed = world.RangeM * (0.5 / 32766 + 0.5 / 65535) + 2e-7 * (largest + world.RangeM);
            bool isRight = worst <= allowed;
            failed |= !isRight;
            Console.WriteLine(
                $"{(isRight ? "right" : "WRONG")}  {what}: off by {worst:0.00000} m at most, {worst / step:0.00} " +
                $"steps of 16 bits, allowed {allowed:0.00000} m");
        }

        private static void CompareWeights(string what, Export export)
        {
            List<int> layers = export.Layers();
            double worst = 0, worstSum = 0;
            foreach (HeightmapFile heightmap in export.Heightmaps)
            {
                Terrain terrain = TerrainOf(export, heightmap);
                float[,,] alphamaps = terrain.terrainData.Alphamaps;
                int size = terrain.terrainData.alphamapResolution;
                List<WeightsFile> files = export.WeightsOf(heightmap);
                var decoded = files.ConvertAll(
                    file => File.ReadAllBytes(Path.Combine(export.Folder, file.Name + ".rgba")));
                Confirm(what + " layers", terrain.terrainData.alphamapLayers == layers.Count, layers.Count);
                for (int z = 0; z < size; z++)
                    for (int x = 0; x < size; x++)
                    {
                        int pixel = 4 * ((size - 1 - z) * size + x);
                        var expected = new double[layers.Count];
                        double sum = 0, all = 0;
                        for (int i = 0; i < files.Count; i++)
                            for (int channel = 0; channel < files[i].Types.Length; channel++)
                                expected[layers.IndexOf(files[i].Types[channel])] = decoded[i][pixel + channel];
                        foreach (double weight in expected)
                            all += weight;
                        for (int layer = 0; layer < layers.Count; layer++)
                        {
                            double found = alphamaps[z, x, layer];
                            worst = Math.Max(worst, Math.Abs(found - expected[layer] / all));
                            sum += found;
                        }
                        worstSum = Math.Max(worstSum, Math.Abs(sum - 1));
                    }
            }
            bool isRight = worst <= 1e-6 && worstSum <= 1e-6;
            failed |= !isRight;
            Console.WriteLine(
                $"{(isRight ? "right" : "WRONG")}  {what} weights of {layers.Count} layers: off by {worst:0.0e0}, " +
                $"sums off by {worstSum:0.0e0}, allowed 1e-6");
        }

        private static Terrain TerrainOf(Export export, HeightmapFile file)
        {
            string name = $"Terrain {file.TileColumn}_{export.Rows - 1 - file.TileRow}";
            return Terrains().Find(terrain => terrain.gameObject.name == name);
        }

        /// <summary>Whether neighbours lie where their names say.</summary>
        private static void CheckNeighbours(string what)
        {
            int pairs = 0;
            foreach (Terrain terrain in Terrains())
            {
                Vector3 place = terrain.transform.localPosition, size = terrain.terrainData.size;
                Func<Terrain, float, float, bool> lies = (other, east, north) =>
                {
                    if (other == null)
                        return true;
                    pairs++;
                    Vector3 found = other.transform.localPosition;
                    return Math.Abs(found.x - place.x - east) < 0.01 && Math.Abs(found.z - place.z - north) < 0.01;
                };
                bool isRight = lies(terrain.Left, -size.x, 0) && lies(terrain.Right, size.x, 0) &&
                    lies(terrain.Top, 0, size.z) && lies(terrain.Bottom, 0, -size.z);
                Confirm(what + " neighbours", isRight, terrain.gameObject.name);
                bool isGrouped = terrain.groupingID == Terrains()[0].groupingID && terrain.allowAutoConnect;
                Confirm(what + " group", isGrouped, terrain.groupingID);
            }
            int count = Terrains().Count, side = (int)Math.Round(Math.Sqrt(count));
            Confirm(what + " neighbours", pairs == 4 * side * (side - 1), pairs);
        }

        private static void CheckWater(string what, Export export)
        {
            GameObject water = GameObject.All.Find(it => it.name == "Water");
            if (!export.WaterM.HasValue)
            {
                Confirm(what + " has no water", water == null || !water.IsActive, "water");
                return;
            }
            Vector3 place = water.transform.localPosition, scale = water.transform.localScale;
            double[] errors =
            {
                place.y - export.WaterM.Value, place.x - export.WidthM / 2, place.z - export.DepthM / 2,
                scale.x * 10 - export.WidthM, scale.z * 10 - export.DepthM,
            };
            bool isRight = Array.TrueForAll(errors, error => Math.Abs(error) < 1e-2) && water.IsActive;
            Confirm(what + " water", isRight, place.x + ", " + place.y + ", " + place.z);
        }

        private static void CheckAll(string what, string manifest, World world)
        {
            Export export = Export.Read(manifest);
            CompareHeights(what, world);
            CompareWeights(what, export);
            CheckNeighbours(what);
            CheckWater(what, export);
        }

        /// <summary>Copies an export over another one, as a second export would: the manifest last.</summary>
        private static void Replace(string from, string to)
        {
            foreach (string path in Directory.GetFiles(from))
                if (Path.GetFileName(path) != Export.ManifestName)
                    File.Copy(path, Path.Combine(to, Path.GetFileName(path)), true);
            string manifest = Path.Combine(to, Export.ManifestName);
            DateTime before = File.GetLastWriteTimeUtc(manifest);
            File.Copy(Path.Combine(from, Export.ManifestName), manifest, true);
            File.SetLastWriteTimeUtc(manifest, before.AddSeconds(2));
        }

        private static void Tick()
        {
            EditorApplication.Now += 1;
            EditorApplication.update();
            foreach (string error in Debug.Errors)
                Console.WriteLine("       logged: " + error);
        }

        private static void Reload(string folder, string other, World world, World otherWorld)
        {
            string manifest = Path.Combine(folder, Export.ManifestName);
            TerrainImporter.Import(manifest, true);
            CheckAll("before reload", manifest, world);
            List<Terrain> terrains = Terrains();
            int objects = GameObject.All.Count;
            string copy = folder + " copy";
            Directory.CreateDirectory(copy);
            foreach (string path in Directory.GetFiles(folder))
                File.Copy(path, Path.Combine(copy, Path.GetFileName(path)));

            int heights = TerrainData.HeightsSet;
            Replace(other, folder);
            Tick();
            Confirm("no reload while it is off", TerrainData.HeightsSet == heights, TerrainData.HeightsSet);
            EditorUserSettings.SetConfigValue("Upthrust.Reload", "on");
            Tick();
            Confirm("reload without errors", Debug.Errors.Count == 0, Debug.Errors.Count);
            CheckAll("after reload", manifest, otherWorld);
            Confirm("objects are kept", GameObject.All.Count == objects, GameObject.All.Count);
            Confirm("terrains are kept", Terrains().TrueForAll(terrains.Contains), "others");

            heights = TerrainData.HeightsSet;
            int weights = TerrainData.AlphamapsSet;
            Tick();
            File.SetLastWriteTimeUtc(manifest, File.GetLastWriteTimeUtc(manifest).AddSeconds(2));
            Tick();
            TerrainImporter.Import(manifest, true);
            bool isSkipped = TerrainData.HeightsSet == heights && TerrainData.AlphamapsSet == weights;
            Confirm("unchanged files are not imported again", isSkipped, TerrainData.HeightsSet - heights);

            // A file that does not belong to the manifest: nothing may change, and the error is logged once.
            Replace(copy, folder);
            string raw = Array.Find(Directory.GetFiles(folder), path => path.EndsWith(".raw"));
            byte[] bytes = File.ReadAllBytes(raw);
            bytes[0] ^= 1;
            File.WriteAllBytes(raw, bytes);
            EditorApplication.Now += 1;
            EditorApplication.update();
            EditorApplication.Now += 1;
            EditorApplication.update();
            Confirm("a wrong file is refused once", Debug.Errors.Count == 1, Debug.Errors.Count);
            isSkipped = TerrainData.HeightsSet == heights;
            Confirm("a wrong file changes nothing", isSkipped, TerrainData.HeightsSet - heights);
            Console.WriteLine("right  refused: " + Debug.Errors[0].Substring(Debug.Errors[0].IndexOf("reloaded") + 10));
            Debug.Errors.Clear();
            Replace(copy, folder);
            Tick();
            CheckAll("after the repair", manifest, world);

            CheckHidden(folder, other, copy);

            // Without its objects, a reload updates the assets and leaves the scene alone.
            GameObject.All.Clear();
            Replace(other, folder);
            Tick();
            Confirm("a scene without the terrain stays as it is", GameObject.All.Count == 0, GameObject.All.Count);
            Console.WriteLine("right  reload: objects kept, unchanged files skipped, wrong files refused");
        }

        /// <summary>What the user hid or deleted stays so; what a reload hid comes back.</summary>
        private static void CheckHidden(string folder, string other, string copy)
        {
            string manifest = Path.Combine(folder, Export.ManifestName);
            GameObject tile = Terrains()[0].gameObject, water = GameObject.All.Find(it => it.name == "Water");
            tile.SetActive(false);
            water.SetActive(false);
            int heights = TerrainData.HeightsSet;
            Replace(other, folder);
            Tick();
            Confirm("reload while something is hidden", TerrainData.HeightsSet > heights, TerrainData.HeightsSet);
            Confirm("what the user hid stays hidden", !tile.activeSelf && !water.activeSelf, "shown");
            tile.SetActive(true);

            // A reload without water, and one with water again: for hidden water and for shown water.
            foreach (bool isShown in new[] { false, true })
            {
                water.SetActive(isShown);
                string text = File.ReadAllText(manifest);
                string dry = Regex.Replace(text, "\"water_m\": *[^,}]+", "\"water_m\": null");
                foreach (string next in new[] { dry, text })
                {
                    DateTime before = File.GetLastWriteTimeUtc(manifest);
                    File.WriteAllText(manifest, next);
                    File.SetLastWriteTimeUtc(manifest, before.AddSeconds(2));
                    Tick();
                    bool isRight = water.activeSelf == (isShown && next == text);
                    Confirm("water is hidden and shown by reloads", isRight, isShown + ", " + water.activeSelf);
                }
            }

            water.transform.SetParent(null, false);
            GameObject.All.Remove(water);
            Replace(copy, folder);
            Tick();
            Confirm("water that was deleted stays away", !GameObject.All.Exists(it => it.name == "Water"), "water");
            // Water comes with the first export that has some.
            string wet = File.ReadAllText(manifest);
            foreach (string next in new[] { Regex.Replace(wet, "\"water_m\": *[^,}]+", "\"water_m\": null"), wet })
            {
                DateTime before = File.GetLastWriteTimeUtc(manifest);
                File.WriteAllText(manifest, next);
                File.SetLastWriteTimeUtc(manifest, before.AddSeconds(2));
                Tick();
            }
            Confirm("new water is made", GameObject.All.Exists(it => it.name == "Water"), "none");
            Console.WriteLine("right  hidden: the user's objects stay hidden or deleted, those of reloads come back");
        }

        /// <summary>Two exports without a name: each has its own assets, and reloads only them.</summary>
        private static void Twins(string folder, string other, World world, World otherWorld)
        {
            string[] folders = { folder, other };
            string[] manifests = Array.ConvertAll(folders, of => Path.Combine(of, Export.ManifestName));
            World[] worlds = { world, otherWorld };
            var terrains = new List<Terrain>[2];
            for (int i = 0; i < 2; i++)
            {
                TerrainImporter.Import(manifests[i], true);
                terrains[i] = Terrains();
                CheckAll("twin " + (i + 1), manifests[i], worlds[i]);
                terrains[i].ForEach(terrain => terrain.gameObject.SetActive(false));
            }
            bool isSeparate = AssetDatabase.Assets.ContainsKey("Assets/Upthrust/Terrain/Terrain 0_0.asset") &&
                AssetDatabase.Assets.ContainsKey("Assets/Upthrust/Terrain 2/Terrain 0_0.asset");
            Confirm("twins have their own assets", isSeparate, string.Join(", ", AssetDatabase.Assets.Keys));
            Confirm("twins are no neighbours", terrains[0][0].groupingID != terrains[1][0].groupingID, "one group");
            // The second becomes what the first is, and the first stays as it is.
            EditorUserSettings.SetConfigValue("Upthrust.Reload", "on");
            int assets = AssetDatabase.Assets.Count, objects = GameObject.All.Count;
            Replace(folder, other);
            Tick();
            for (int i = 0; i < 2; i++)
            {
                terrains[i].ForEach(terrain => terrain.gameObject.SetActive(true));
                CheckAll("twin " + (i + 1) + " after a reload", manifests[i], world);
                terrains[i].ForEach(terrain => terrain.gameObject.SetActive(false));
            }
            TerrainImporter.Import(manifests[0], true);
            bool isSame = AssetDatabase.Assets.Count == assets && GameObject.All.Count == objects;
            Confirm("twins keep their folders", isSame, AssetDatabase.Assets.Count + ", " + GameObject.All.Count);
            // The folder of an export that no longer exists is free.
            File.Delete(manifests[0]);
            string third = folder + " third";
            Directory.CreateDirectory(third);
            foreach (string path in Directory.GetFiles(other))
                File.Copy(path, Path.Combine(third, Path.GetFileName(path)));
            TerrainImporter.Import(Path.Combine(third, Export.ManifestName), true);
            Confirm("a free folder is used again", AssetDatabase.Assets.Count == assets, AssetDatabase.Assets.Count);
            Console.WriteLine("right  twins: two exports without a name keep their own assets");
        }

        /// <summary>The same terrain in another number of tiles, and back.</summary>
        private static void Retile(string folder, string other, World world, World otherWorld)
        {
            string manifest = Path.Combine(folder, Export.ManifestName);
            string copy = folder + " copy";
            Directory.CreateDirectory(copy);
            foreach (string path in Directory.GetFiles(folder))
                File.Copy(path, Path.Combine(copy, Path.GetFileName(path)));
            TerrainImporter.Import(manifest, true);
            int tiles = Terrains().Count;
            // A tile that the user hid is none of those that come back.
            GameObject hidden = Terrains().Find(terrain => terrain.gameObject.name == "Terrain 1_1").gameObject;
            hidden.SetActive(false);
            Replace(other, folder);
            TerrainImporter.Import(manifest, true);
            Confirm("fewer tiles", Terrains().Count == 1, Terrains().Count);
            CheckAll("in other tiles", manifest, otherWorld);
            Replace(copy, folder);
            TerrainImporter.Import(manifest, true);
            Confirm("tiles that come back", Terrains().Count == tiles - 1 && !hidden.activeSelf, Terrains().Count);
            hidden.SetActive(true);
            CheckAll("in the first tiles again", manifest, world);
        }

        private static void Refuse(string manifest, string words)
        {
            try
            {
                TerrainImporter.Import(manifest, true);
                Confirm("refusal", false, "imported");
            }
            catch (ExportException error)
            {
                bool isUntouched = GameObject.All.Count == 0 && AssetDatabase.Assets.Count == 0 &&
                    !Directory.Exists("Assets/Upthrust");
                Confirm("a refused export changes nothing", isUntouched, "changes");
                Confirm("the refusal says: " + words, error.Message.Contains(words), error.Message);
                Console.WriteLine("right  refused: " + error.Message);
            }
        }

        private static int Main(string[] arguments)
        {
            System.Threading.Thread.CurrentThread.CurrentCulture = System.Globalization.CultureInfo.InvariantCulture;
            System.Runtime.CompilerServices.RuntimeHelpers.RunClassConstructor(typeof(TerrainImporter).TypeHandle);
            Directory.CreateDirectory("Assets");
            List<string> sizes = new List<string>(arguments);
            sizes.RemoveRange(0, Math.Max(0, arguments.Length - 5));
            switch (arguments[0])
            {
                case "import":
                    foreach (bool truncates in new[] { false, true })
                    {
                        TerrainData.Truncates = truncates;
                        GameObject.All.Clear();
                        AssetDatabase.Assets.Clear();
                        Directory.Delete("Assets", true);
                        Directory.CreateDirectory("Assets");
                        TerrainImporter.Import(arguments[1], true);
                        Export export = Export.Read(arguments[1]);
                        string what = $"{export.Columns} × {export.Rows} tiles of {export.Heightmaps[0].Width}, " +
                            $"{export.WidthM} × {export.DepthM} m, {(truncates ? "truncated" : "rounded")}";
                        CheckAll(what, arguments[1], new World(arguments[2], sizes));
                    }
                    break;
                case "reload":
                    Reload(arguments[1], arguments[2], new World(arguments[3], sizes), new World(arguments[4], sizes));
                    break;
                case "twins":
                    Twins(arguments[1], arguments[2], new World(arguments[3], sizes), new World(arguments[4], sizes));
                    break;
                case "retile":
                    Retile(arguments[1], arguments[2], new World(arguments[3], sizes), new World(arguments[4], sizes));
                    break;
                default:
                    Refuse(arguments[1], arguments.Length > 2 ? arguments[2] : "");
                    break;
            }
            return failed ? 1 : 0;
        }
    }
}
