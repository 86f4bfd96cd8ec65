// Runs the importer against the stubs and compares what TerrainData holds with the heights of a .r32.
//
// Check.exe import MANIFEST HEIGHTS SIZES
// Check.exe reload FOLDER OTHER_FOLDER HEIGHTS OTHER_HEIGHTS SIZES
// Check.exe retile FOLDER OTHER_FOLDER HEIGHTS OTHER_HEIGHTS SIZES
// Check.exe twins FOLDER OTHER_FOLDER HEIGHTS OTHER_HEIGHTS SIZES
// Check.exe scatter FOLDER OTHER_FOLDER FOLDER_WITHOUT_SCATTER HEIGHTS OTHER_HEIGHTS SIZES
// Check.exe refuse MANIFEST WORDS_OF_THE_MESSAGE
// Check.exe names
//
// SIZES: COLUMNS ROWS WIDTH_M DEPTH_M HEIGHT_RANGE_M
//
// Beside each PNG of weights is NAME.rgba, its pixels as another library decoded them, and beside the manifest is
// layers.txt, the colours of the layers in their order, and instances.txt, the scattered instances: name, metres east,
// up and north of the south-western corner, radians clockwise from north, and scale, separated by tabs.

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Text.RegularExpressions;
using UnityEditor;
using UnityEngine;

namespace Upthrust
{
    internal static class Check
    {
        private static bool failed;

        /// <summary>Prints a line with numbers as in English, whatever the language of the importer is.</summary>
        private static void Say(FormattableString line)
        {
            Console.WriteLine(FormattableString.Invariant(line));
        }

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
                Columns = int.Parse(sizes[0], CultureInfo.InvariantCulture);
                Rows = int.Parse(sizes[1], CultureInfo.InvariantCulture);
                WidthM = double.Parse(sizes[2], CultureInfo.InvariantCulture);
                DepthM = double.Parse(sizes[3], CultureInfo.InvariantCulture);
                RangeM = double.Parse(sizes[4], CultureInfo.InvariantCulture);
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
            Say($@"{(isRight ? "right" : "WRONG")}  {what}: off by {worst:0.00000} m at most, {
                worst / step:0.00} steps of 16 bits, allowed {allowed:0.00000} m");
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
            Say($@"{(isRight ? "right" : "WRONG")}  {what} weights of {layers.Count} layers: off by {
                worst:0.0e0}, sums off by {worstSum:0.0e0}, allowed 1e-6");
        }

        /// <summary>Whether every terrain has the layers in the order of their weights, each with its colour.</summary>
        private static void CompareLayers(string what, Export export)
        {
            string[] expected = File.ReadAllLines(Path.Combine(export.Folder, "layers.txt"));
            foreach (HeightmapFile heightmap in export.Heightmaps)
            {
                var found = new List<string>();
                foreach (TerrainLayer layer in TerrainOf(export, heightmap).terrainData.terrainLayers)
                {
                    Color32 colour = layer.diffuseTexture.Pixels[0];
                    bool isPlain = Array.TrueForAll(layer.diffuseTexture.Pixels, pixel => pixel.Equals(colour));
                    found.Add(isPlain ? $"#{colour.r:x2}{colour.g:x2}{colour.b:x2}" : "several colours");
                }
                bool isRight = string.Join(" ", found) == string.Join(" ", expected);
                Confirm(what + " layers", isRight, string.Join(" ", found) + " for " + string.Join(" ", expected));
            }
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

        /// <summary>The water that the importer made, or null.</summary>
        private static GameObject Water() => GameObject.All.Find(
            item => AssetDatabase.GetAssetPath(item.GetComponent<MeshFilter>()?.sharedMesh).EndsWith("/Water.asset"));

        private static void CheckWater(string what, Export export)
        {
            GameObject water = Water();
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

        private sealed class Tree
        {
            internal string Name;
            internal double[] Numbers;

            /// <summary>Its square of ten metres, or one beside it. Two of a kind are farther from each other.</summary>
            internal string Square(int east = 0, int north = 0) =>
                $"{Name} {Math.Floor(Numbers[0] / 10) + east} {Math.Floor(Numbers[2] / 10) + north}";

            internal double Off(Tree other)
            {
                double worst = 0;
                for (int i = 0; i < Numbers.Length; i++)
                    worst = Math.Max(worst, Math.Abs(Numbers[i] - other.Numbers[i]));
                return worst;
            }
        }

        private static string NameOf(TreePrototype prototype) =>
            Path.GetFileNameWithoutExtension(AssetDatabase.GetAssetPath(prototype.prefab));

        /// <summary>Compares the trees of all terrains with the scattered instances.</summary>
        private static void CompareTrees(string what, Export export)
        {
            var expected = new List<Tree>();
            foreach (string line in File.ReadAllLines(Path.Combine(export.Folder, "instances.txt")))
            {
                string[] parts = line.Split('\t');
                var numbers = new double[5];
                for (int i = 0; i < 5; i++)
                    numbers[i] = double.Parse(parts[i + 1], CultureInfo.InvariantCulture);
                expected.Add(new Tree { Name = parts[0], Numbers = numbers });
            }
            var found = new List<Tree>();
            foreach (Terrain terrain in Terrains())
            {
                TerrainData data = terrain.terrainData;
                Vector3 place = terrain.transform.localPosition;
                foreach (TreeInstance tree in data.treeInstances)
                {
                    TreePrototype prototype = data.treePrototypes[tree.prototypeIndex];
                    if (!AssetDatabase.GetAssetPath(prototype.prefab).Contains("/Scatter/"))
                        continue;
                    Confirm(what + " trees", tree.widthScale == tree.heightScale && tree.color.a == 255, "uneven");
                    Vector3 at = tree.position;
                    found.Add(new Tree
                    {
                        Name = NameOf(prototype),
                        Numbers = new[]
                        {
                            place.x + (double)at.x * data.size.x, place.y + (double)at.y * data.size.y,
                            place.z + (double)at.z * data.size.z, tree.rotation, tree.widthScale,
                        },
                    });
                }
            }
            // By place: the tiles have another order.
            var squares = new Dictionary<string, Tree>();
            expected.ForEach(tree => squares.Add(tree.Square(), tree));
            double worst = 0;
            bool isRight = found.Count == expected.Count;
            foreach (Tree tree in found)
            {
                double off = double.PositiveInfinity;
                for (int square = 0; square < 9; square++)
                {
                    Tree near;
                    if (squares.TryGetValue(tree.Square(square % 3 - 1, square / 3 - 1), out near))
                        off = Math.Min(off, tree.Off(near));
                }
                worst = Math.Max(worst, off);
            }
            // Places are shares of the terrain in 32 bits.
            double allowed = 1e-4 + 1.2e-7 * Math.Max(export.WidthM, export.DepthM);
            isRight &= worst <= allowed;
            failed |= !isRight;
            if (!isRight || expected.Count > 0)
                Say($@"{(isRight ? "right" : "WRONG")}  {what}: {found.Count} of {expected.Count} trees, off by {
                    worst:0.00000} m, allowed {allowed:0.00000}");
        }

        /// <summary>What is scattered follows the export, and what the user added or changed stays.</summary>
        private static void Scatter(string folder, string other, string without, World world, World otherWorld)
        {
            string manifest = Path.Combine(folder, Export.ManifestName);
            TerrainImporter.Import(manifest, true);
            CheckAll("scatter", manifest, world);
            CheckShapes(Export.Read(manifest));
            // A prefab that the user has changed, and another one with trees that the user has planted.
            string path = new List<string>(AssetDatabase.Assets.Keys).Find(each => each.EndsWith("/Trees.prefab"));
            var changed = (GameObject)AssetDatabase.Assets[path];
            var own = new GameObject("own");
            AssetDatabase.CreateAsset(own, "Assets/own.prefab");
            TerrainData data = Terrains()[0].terrainData;
            var prototypes = new List<TreePrototype>(data.treePrototypes);
            prototypes.Insert(0, new TreePrototype { prefab = own });
            TreeInstance[] trees = Array.ConvertAll(data.treeInstances, tree =>
            {
                tree.prototypeIndex++;
                return tree;
            });
            var planted = new List<TreeInstance>(trees)
            {
                new TreeInstance { position = new Vector3(0.25f, 0.5f, 0.75f), prototypeIndex = 0 },
            };
            data.treePrototypes = prototypes.ToArray();
            data.SetTreeInstances(planted.ToArray(), false);
            Action<string> confirmOwn = when =>
            {
                TreeInstance[] kept = Array.FindAll(
                    data.treeInstances, tree => data.treePrototypes[tree.prototypeIndex].prefab == own);
                bool isKept = kept.Length == 1 && kept[0].position.x == 0.25f && kept[0].position.z == 0.75f;
                Confirm("the user's trees " + when, isKept, kept.Length);
                bool isSame = AssetDatabase.Assets[path] == changed;
                Confirm("the prefab that the user changed " + when, isSame, "another");
            };
            EditorUserSettings.SetConfigValue("Upthrust.Reload", "on");
            string copy = folder + " copy";
            Directory.CreateDirectory(copy);
            foreach (string file in Directory.GetFiles(folder))
                File.Copy(file, Path.Combine(copy, Path.GetFileName(file)));
            Replace(other, folder);
            Tick();
            CheckAll("scatter after a reload", manifest, otherWorld);
            confirmOwn("after a reload");

            int set = TerrainData.TreesSet;
            File.SetLastWriteTimeUtc(manifest, File.GetLastWriteTimeUtc(manifest).AddSeconds(2));
            Tick();
            Confirm("unchanged scatter is not imported again", TerrainData.TreesSet == set, TerrainData.TreesSet - set);
            // A file that does not belong to the manifest changes nothing.
            Replace(copy, folder);
            File.AppendAllText(Path.Combine(folder, "scatter.json"), " ");
            Tick();
            bool isRefused = Debug.Errors.Count == 1 && Debug.Errors[0].Contains("scatter.json is not the file");
            Confirm("a wrong file is refused", isRefused && TerrainData.TreesSet == set, Debug.Errors.Count);
            Debug.Errors.Clear();
            EditorApplication.Now += 100;
            Replace(without, folder);
            Tick();
            CheckAll("an export without scatter", manifest, world);
            confirmOwn("without scatter");
            Replace(copy, folder);
            Tick();
            CheckAll("scatter that comes back", manifest, world);
            confirmOwn("after it came back");
        }

        /// <summary>Whether the shapes of the prefabs are closed, face outward and have the size of their layers.</summary>
        private static void CheckShapes(Export export)
        {
            foreach (ScatterLayer layer in export.Scatter.ReadLayers(export.Folder))
            {
                string path = new List<string>(AssetDatabase.Assets.Keys).Find(
                    each => each.EndsWith("/Scatter/" + layer.Name + ".prefab"));
                var prefab = (GameObject)AssetDatabase.Assets[path];
                Mesh mesh = prefab.GetComponent<MeshFilter>().sharedMesh;
                double volume = 0, top = 0, bottom = 0, side = 0;
                for (int i = 0; i < mesh.triangles.Length; i += 3)
                {
                    Vector3 a = mesh.vertices[mesh.triangles[i]], b = mesh.vertices[mesh.triangles[i + 1]];
                    Vector3 c = mesh.vertices[mesh.triangles[i + 2]];
                    // Clockwise in Unity's axes, which are left-handed: a volume above 0 faces outward.
                    volume += (a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) +
                        a.z * (b.x * c.y - b.y * c.x)) / 6;
                    foreach (Vector3 corner in new[] { a, b, c })
                    {
                        top = Math.Max(top, corner.y);
                        bottom = Math.Min(bottom, corner.y);
                        side = Math.Max(side, Math.Abs(corner.x));
                    }
                }
                double box = 4 * layer.RadiusM * layer.RadiusM * layer.HeightM;
                bool isRight = volume > 0.2 * box && volume <= 1.0001 * box && Math.Abs(top - layer.HeightM) < 1e-4 &&
                    bottom == 0 && side > 0.9 * layer.RadiusM && side < 1.0001 * layer.RadiusM &&
                    prefab.GetComponent<LODGroup>().Levels[0].renderers.Length == 1 &&
                    prefab.GetComponent<Collider>()?.IsDestroyed != false;
                Confirm("the shape of " + layer.Name, isRight, volume / box);
            }
        }

        private static void CheckAll(string what, string manifest, World world)
        {
            Export export = Export.Read(manifest);
            CompareHeights(what, world);
            CompareWeights(what, export);
            CompareLayers(what, export);
            CheckNeighbours(what);
            CheckWater(what, export);
            CompareTrees(what, export);
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
            int known = Debug.Errors.Count;
            EditorApplication.Now += 1;
            EditorApplication.update();
            for (int i = known; i < Debug.Errors.Count; i++)
                Console.WriteLine("       logged: " + Debug.Errors[i]);
        }

        private static void Change(string manifest, Func<string, string> change)
        {
            DateTime before = File.GetLastWriteTimeUtc(manifest);
            File.WriteAllText(manifest, change(File.ReadAllText(manifest)));
            File.SetLastWriteTimeUtc(manifest, before.AddSeconds(2));
        }

        private static string Dry(string manifest) =>
            Regex.Replace(manifest, "\"water_m\": *[^,}]+", "\"water_m\": null");

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

            CheckRetries(folder, other, copy, world);
            CheckInterrupted(folder, other, copy, world, otherWorld);
            CheckUserLayers(folder, other, copy);
            CheckParent(folder, other, copy);
            CheckHidden(folder, other, copy);

            // Without its objects, a reload updates the assets and leaves the scene alone.
            GameObject.All.Clear();
            Replace(other, folder);
            Tick();
            Confirm("a scene without the terrain stays as it is", GameObject.All.Count == 0, GameObject.All.Count);

            // Assets that the user deleted do not come back.
            string assets = "Assets/Upthrust/" + Path.GetFileName(Directory.GetDirectories("Assets/Upthrust")[0]);
            Directory.Delete(assets, true);
            AssetDatabase.Assets.Clear();
            Replace(copy, folder);
            Tick();
            Tick();
            Confirm("deleted assets stay away", !Directory.Exists(assets) && AssetDatabase.Assets.Count == 0, assets);
            Confirm("deleted assets are noted once", Debug.Warnings.Count == 1, Debug.Warnings.Count);
            Console.WriteLine("right  reload: objects kept, unchanged files skipped, wrong files refused");
        }

        /// <summary>A file that cannot be read at first is tried again, less and less often.</summary>
        private static void CheckRetries(string folder, string other, string copy, World world)
        {
            Replace(other, folder);
            Tick();
            string manifest = Path.Combine(folder, Export.ManifestName);
            string raw = Array.Find(Directory.GetFiles(folder), path => path.EndsWith(".raw")), moved = raw + ".moved";
            Replace(copy, folder);
            File.Move(raw, moved);
            int heights = TerrainData.HeightsSet;
            for (int i = 0; i < 8; i++)
                Tick();
            bool isWaiting = TerrainData.HeightsSet == heights && Debug.Errors.Count == 1;
            Confirm("a missing file is logged once", isWaiting, Debug.Errors.Count);
            File.Move(moved, raw);
            // The attempts are at 1, 2, 4, 8 and 16 s.
            Tick();
            Confirm("no attempt between two retries", TerrainData.HeightsSet == heights, TerrainData.HeightsSet);
            for (int i = 0; i < 8; i++)
                Tick();
            Debug.Errors.Clear();
            CheckAll("after a retry", manifest, world);
        }

        /// <summary>Exports that end while another one is imported, and imports that fail halfway.</summary>
        private static void CheckInterrupted(string folder, string other, string copy, World world, World otherWorld)
        {
            string manifest = Path.Combine(folder, Export.ManifestName);
            int saves = 0;
            AssetDatabase.OnSave = asset =>
            {
                if (saves++ == 0)
                    Replace(copy, folder);
            };
            Replace(other, folder);
            Tick();
            AssetDatabase.OnSave = null;
            Confirm("assets are saved", saves > 0, saves);
            Tick();
            CheckAll("an export that ends during an import", manifest, world);

            // The first import fails after the heights of the first tile, the second one when its assets are saved.
            foreach (bool isEarly in new[] { true, false })
            {
                Action<UnityEngine.Object> fail = asset =>
                {
                    if (asset is TerrainData)
                        throw new IOException("the disk is full");
                };
                EditorUtility.OnDirty = isEarly ? fail : null;
                AssetDatabase.OnSave = isEarly ? null : fail;
                Replace(other, folder);
                Tick();
                Confirm("a failed import is logged", Debug.Errors.Count == 1, Debug.Errors.Count);
                Debug.Errors.Clear();
                // The earlier export again: its files were imported before, but the terrains have others now.
                EditorUtility.OnDirty = null;
                AssetDatabase.OnSave = null;
                Replace(copy, folder);
                Tick();
                CheckAll("an import after one that failed " + (isEarly ? "early" : "late"), manifest, world);
            }
            Confirm("no asset is left unsaved", EditorUtility.Dirty.Count == 0, EditorUtility.Dirty.Count);
            string[] rest = Directory.GetFiles("Assets", ".*", SearchOption.AllDirectories);
            Confirm("no temporary file is left", rest.Length == 0, rest.Length);
        }

        /// <summary>Layers that the user added keep their weights; those of unchanged weights are left alone.</summary>
        private static void CheckUserLayers(string folder, string other, string copy)
        {
            string manifest = Path.Combine(folder, Export.ManifestName);
            TerrainData data = Terrains()[0].terrainData;
            int imported = data.alphamapLayers, size = data.alphamapResolution;
            var own = new TerrainLayer { name = "the user's" };
            var layers = new List<TerrainLayer>(data.terrainLayers);
            float[,,] before = data.GetAlphamaps(0, 0, size, size);
            // In front of the imported layers, and painted on one half.
            layers.Insert(0, own);
            data.terrainLayers = layers.ToArray();
            var painted = new float[size, size, imported + 1];
            for (int z = 0; z < size; z++)
                for (int x = 0; x < size; x++)
                {
                    painted[z, x, 0] = x < size / 2 ? 0.6f : 0;
                    for (int layer = 0; layer < imported; layer++)
                        painted[z, x, layer + 1] = before[z, x, layer] * (1 - painted[z, x, 0]);
                }
            data.SetAlphamaps(0, 0, painted);

            // Only the water level changes.
            int set = TerrainData.AlphamapsSet;
            Change(manifest, text => Regex.Replace(text, "\"water_m\": *[^,}]+", "\"water_m\": 1.5"));
            Tick();
            Confirm("layers of unchanged weights", data.terrainLayers[0] == own, data.terrainLayers.Length);
            bool isLeftAlone = TerrainData.AlphamapsSet == set;
            Confirm("unchanged weights are left alone", isLeftAlone, TerrainData.AlphamapsSet - set);

            Replace(other, folder);
            Tick();
            bool isLast = data.alphamapLayers == imported + 1 && data.terrainLayers[imported] == own;
            Confirm("a layer of the user follows those of the import", isLast, data.alphamapLayers);
            double worst = 0, worstSum = 0;
            for (int z = 0; z < size; z++)
                for (int x = 0; x < size; x++)
                {
                    double sum = 0;
                    for (int layer = 0; layer <= imported; layer++)
                        sum += data.Alphamaps[z, x, layer];
                    worst = Math.Max(worst, Math.Abs(data.Alphamaps[z, x, imported] - painted[z, x, 0]));
                    worstSum = Math.Max(worstSum, Math.Abs(sum - 1));
                }
            bool isRight = worst <= 0.5 / 255 && worstSum < 1e-5;
            Confirm("the weights of a layer of the user", isRight, worst + ", " + worstSum);
            // Without that layer, as before.
            data.terrainLayers = Array.FindAll(data.terrainLayers, layer => layer != own);
            Replace(copy, folder);
            Tick();
            Say($"right  layers of the user: kept, weights off by {worst:0.0e0}, sums off by {worstSum:0.0e0}");
        }

        /// <summary>Tiles that the user took out of their object stay in their scene and in their place.</summary>
        private static void CheckParent(string folder, string other, string copy)
        {
            Transform parent = Terrains()[0].transform.parent;
            parent.localPosition = new Vector3(100, 200, 300);
            Replace(other, folder);
            Tick();
            Vector3 place = parent.localPosition;
            bool isKept = place.x == 100 && place.y == 200 && place.z == 300;
            Confirm("the object above the tiles stays in its place", isKept, place.x);
            parent.localPosition = new Vector3(0, 0, 0);

            var scene = new UnityEngine.SceneManagement.Scene { Handle = 7 };
            foreach (Terrain terrain in Terrains())
            {
                Vector3 inside = terrain.transform.localPosition;
                terrain.transform.SetParent(null, false);
                terrain.transform.localPosition = new Vector3(inside.x + 1000, inside.y, inside.z - 500);
                terrain.gameObject.scene = scene;
            }
            Replace(copy, folder);
            Tick();
            Transform made = Terrains()[0].transform.parent;
            bool isRight = made != null && made != parent && made.gameObject.scene.Handle == 7 &&
                Math.Abs(made.localPosition.x - 1000) < 0.01 && Math.Abs(made.localPosition.y) < 0.01 &&
                Math.Abs(made.localPosition.z + 500) < 0.01;
            Confirm("a new object above the tiles", isRight, made == null ? "none" : made.localPosition.x.ToString());
            foreach (Terrain terrain in Terrains())
                Confirm("tiles below the new object", terrain.transform.parent == made, terrain.gameObject.name);
            // Under an object of the user, at another place in it.
            var own = new GameObject("World");
            var places = new Dictionary<Terrain, Vector3>();
            foreach (Terrain terrain in Terrains())
            {
                terrain.transform.SetParent(own.transform, false);
                terrain.transform.localPosition += new Vector3(70, 0, 40);
                places[terrain] = terrain.transform.localPosition;
            }
            Replace(other, folder);
            Tick();
            foreach (Terrain terrain in Terrains())
            {
                Vector3 moved = terrain.transform.localPosition - places[terrain];
                bool isHere = terrain.transform.parent == own.transform && Math.Abs(moved.x) + Math.Abs(moved.z) < 0.01;
                Confirm("tiles in an object of the user stay in their place", isHere, moved.x + ", " + moved.z);
                terrain.transform.localPosition -= new Vector3(70, 0, 40);
            }
            GameObject.All.Remove(own);
            // Back to the first object, with the water.
            foreach (Terrain terrain in Terrains())
                terrain.transform.SetParent(parent, false);
            GameObject.All.Remove(made.gameObject);
            Replace(copy, folder);
            Tick();
        }

        /// <summary>What the user hid or deleted stays so; what a reload hid comes back.</summary>
        private static void CheckHidden(string folder, string other, string copy)
        {
            string manifest = Path.Combine(folder, Export.ManifestName);
            // An object of the user that has the same name.
            var decoy = new GameObject("Water");
            decoy.transform.SetParent(Terrains()[0].transform.parent, false);
            decoy.transform.localPosition = new Vector3(1, 2, 3);
            GameObject tile = Terrains()[0].gameObject, water = Water();
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
                foreach (string next in new[] { Dry(text), text })
                {
                    Change(manifest, _ => next);
                    Tick();
                    bool isRight = water.activeSelf == (isShown && next == text);
                    Confirm("water is hidden and shown by reloads", isRight, isShown + ", " + water.activeSelf);
                }
            }
            water.name = "Lake";
            Replace(copy, folder);
            Tick();
            Confirm("renamed water is found", Water() == water && water.name == "Lake", water.name);

            water.transform.SetParent(null, false);
            GameObject.All.Remove(water);
            Replace(other, folder);
            Tick();
            Confirm("water that was deleted stays away", Water() == null, "water");
            // Water comes with the first export that has some.
            string wet = File.ReadAllText(manifest);
            foreach (string next in new[] { Dry(wet), wet })
            {
                Change(manifest, _ => next);
                Tick();
            }
            Confirm("new water is made", Water() != null, "none");
            Vector3 place = decoy.transform.localPosition;
            bool isUntouched = decoy.activeSelf && place.x == 1 && place.y == 2 && place.z == 3;
            Confirm("an object of the user that is named Water is left alone", isUntouched, place.x);
            Console.WriteLine("right  hidden: the user's objects stay hidden or deleted, those of reloads come back");
        }

        /// <summary>Names of files and folders for names of terrains and types.</summary>
        private static void Names()
        {
            string tooLong = new string('a', 300);
            var expected = new Dictionary<string, string>
            {
                { "Alpine grass", "Alpine grass" }, { "a/b\\c:d", "a_b_c_d" },
                { "CON", "_CON" }, { "nul.txt", "_nul.txt" },
                { "Com1", "_Com1" }, { "COM10", "COM10" }, { "Console", "Console" }, { "lpt9 .x", "_lpt9 .x" },
                { "backup~", "backup" }, { "~", "Terrain" }, { "", "Terrain" }, { " . ", "Terrain" },
                { ".hidden", "hidden" },
                { "a\0b", "a_b" }, { "x.tmp", "_x.tmp" }, { "CVS", "_CVS" }, { tooLong, new string('a', 64) },
                { new string('a', 63) + "\U0001F3D4", new string('a', 63) }, { "Gelände 地形", "Gelände 地形" },
            };
            foreach (KeyValuePair<string, string> name in expected)
                Confirm("file name of " + name.Key, Export.FileName(name.Key) == name.Value, Export.FileName(name.Key));
            Console.WriteLine($"{(failed ? "WRONG" : "right")}  file names: {expected.Count} compared");
        }

        /// <summary>Two exports without a name: each has its own assets, and reloads only them.</summary>
        private static void Twins(string folder, string other, World world, World otherWorld)
        {
            string[] folders = { folder, other };
            string[] manifests = Array.ConvertAll(folders, each => Path.Combine(each, Export.ManifestName));
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
            Confirm("twins are not neighbours", terrains[0][0].groupingID != terrains[1][0].groupingID, "one group");
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
                Console.WriteLine("right  refused: " + error.Message.Replace('\0', ' '));
            }
        }

        private static int Main(string[] arguments)
        {
            // A language with a decimal comma: the importer has to read and write numbers as the manifest does.
            System.Threading.Thread.CurrentThread.CurrentCulture = new CultureInfo("de-DE");
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
                        bool isUndone = Undo.Created.Count == GameObject.All.Count;
                        Confirm(what + " can be undone", isUndone, Undo.Created.Count);
                        Undo.Created.Clear();
                        CheckAll(what, arguments[1], new World(arguments[2], sizes));
                    }
                    break;
                case "reload":
                    Reload(arguments[1], arguments[2], new World(arguments[3], sizes), new World(arguments[4], sizes));
                    break;
                case "scatter":
                    Scatter(
                        arguments[1], arguments[2], arguments[3], new World(arguments[4], sizes),
                        new World(arguments[5], sizes));
                    break;
                case "twins":
                    Twins(arguments[1], arguments[2], new World(arguments[3], sizes), new World(arguments[4], sizes));
                    break;
                case "retile":
                    Retile(arguments[1], arguments[2], new World(arguments[3], sizes), new World(arguments[4], sizes));
                    break;
                case "names":
                    Names();
                    break;
                default:
                    Refuse(arguments[1], arguments[2]);
                    break;
            }
            return failed ? 1 : 0;
        }
    }
}
