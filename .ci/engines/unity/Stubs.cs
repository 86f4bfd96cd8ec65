// The parts of UnityEngine and UnityEditor that the importer uses, written by hand after Unity's documentation (2021.3
// to 6), with as much behaviour as a test needs: assets in a dictionary, objects in a list, heights as TerrainData
// stores them. Real signatures and real behaviour can differ.

using System;
using System.Collections.Generic;

namespace UnityEngine
{
    public class Object
    {
        public string name { get; set; }

        internal bool IsDestroyed;

        public static void DestroyImmediate(Object obj)
        {
            obj.IsDestroyed = true;
            GameObject.All.Remove(obj as GameObject);
        }

        public static T Instantiate<T>(T original) where T : Object => (T)original.MemberwiseClone();

        public static bool operator ==(Object x, Object y) => ReferenceEquals(x, y);

        public static bool operator !=(Object x, Object y) => !ReferenceEquals(x, y);

        public override bool Equals(object other) => ReferenceEquals(this, other);

        public override int GetHashCode() => System.Runtime.CompilerServices.RuntimeHelpers.GetHashCode(this);
    }

    public struct Vector2
    {
        public float x, y;

        public Vector2(float x, float y)
        {
            this.x = x;
            this.y = y;
        }
    }

    public struct Vector3
    {
        public float x, y, z;

        public Vector3(float x, float y, float z)
        {
            this.x = x;
            this.y = y;
            this.z = z;
        }

        public static Vector3 operator +(Vector3 a, Vector3 b) => new Vector3(a.x + b.x, a.y + b.y, a.z + b.z);

        public static Vector3 operator -(Vector3 a, Vector3 b) => new Vector3(a.x - b.x, a.y - b.y, a.z - b.z);
    }

    public struct Color
    {
        public float r, g, b, a;

        public Color(float r, float g, float b, float a)
        {
            this.r = r;
            this.g = g;
            this.b = b;
            this.a = a;
        }
    }

    public struct Color32
    {
        public byte r, g, b, a;

        public Color32(byte r, byte g, byte b, byte a)
        {
            this.r = r;
            this.g = g;
            this.b = b;
            this.a = a;
        }
    }

    public class Component : Object
    {
        internal GameObject Owner;

        public GameObject gameObject => Owner;

        public Transform transform => Owner.transform;
    }

    public class Behaviour : Component { }

    public class Transform : Component
    {
        internal readonly List<Transform> Children = new List<Transform>();
        private Transform above;

        public Transform parent => above;

        public Vector3 localPosition { get; set; }

        public Vector3 localScale { get; set; }

        public void SetParent(Transform parent, bool worldPositionStays)
        {
            if (above != null)
                above.Children.Remove(this);
            above = parent;
            if (parent == null)
                return;
            parent.Children.Add(this);
            gameObject.scene = parent.gameObject.scene;
        }

        public Transform Find(string n) => Children.Find(child => child.gameObject.name == n);
    }

    public class Collider : Component { }

    public sealed class Mesh : Object
    {
        public Vector3[] vertices { get; set; }

        public int[] triangles { get; set; }

        public void RecalculateNormals() { }

        public void RecalculateBounds() { }
    }

    public sealed class MeshFilter : Component
    {
        public Mesh sharedMesh { get; set; }
    }

    public class Renderer : Component
    {
        public Material sharedMaterial { get; set; }
    }

    public class MeshRenderer : Renderer { }

    public struct LOD
    {
        public Renderer[] renderers;

        public LOD(float screenRelativeTransitionHeight, Renderer[] renderers)
        {
            this.renderers = renderers;
        }
    }

    public class LODGroup : Component
    {
        internal LOD[] Levels;

        public void SetLODs(LOD[] lods)
        {
            Levels = lods;
        }

        public void RecalculateBounds() { }
    }

    public class Shader : Object { }

    public class Material : Object
    {
        internal Material() { }

        public Material(Material source) { }

        public Color color { get; set; }
    }

    public enum PrimitiveType { Sphere, Capsule, Cylinder, Cube, Plane, Quad }

    public sealed class GameObject : Object
    {
        internal static readonly List<GameObject> All = new List<GameObject>();
        internal readonly List<Component> Components = new List<Component>();
        internal bool IsActive = true;

        public GameObject(string name)
        {
            this.name = name;
            scene = SceneManagement.SceneManager.Active;
            Add(new Transform { localScale = new Vector3(1, 1, 1) });
            All.Add(this);
        }

        internal void Add(Component component)
        {
            component.Owner = this;
            Components.Add(component);
        }

        public Transform transform => (Transform)Components[0];

        public SceneManagement.Scene scene { get; internal set; }

        public T AddComponent<T>() where T : Component
        {
            var made = Activator.CreateInstance<T>();
            Add(made);
            return made;
        }

        public T GetComponent<T>() => (T)(object)Components.Find(component => component is T);

        public bool activeSelf => IsActive;

        public void SetActive(bool value)
        {
            IsActive = value;
        }

        private static readonly Mesh BuiltInMesh = new Mesh();

        public static GameObject CreatePrimitive(PrimitiveType type)
        {
            var made = new GameObject(type.ToString());
            made.Add(new Collider());
            made.Add(new MeshFilter { sharedMesh = BuiltInMesh });
            made.Add(new MeshRenderer { sharedMaterial = new Material() });
            return made;
        }
    }

    public static class Resources
    {
        public static Object[] FindObjectsOfTypeAll(Type type)
        {
            var found = new List<Object>();
            foreach (GameObject item in GameObject.All)
                found.AddRange(item.Components.FindAll(component => type.IsInstanceOfType(component)));
            return found.ToArray();
        }
    }

    public static class Debug
    {
        internal static readonly List<string> Errors = new List<string>();
        internal static readonly List<string> Warnings = new List<string>();

        public static void LogWarning(object message)
        {
            Warnings.Add(message.ToString());
        }

        public static void LogError(object message)
        {
            Errors.Add(message.ToString());
        }
    }

    public enum TextureFormat { RGBA32 = 4 }

    public class Texture : Object { }

    public sealed class Texture2D : Texture
    {
        internal Color32[] Pixels;

        public Texture2D(int width, int height, TextureFormat textureFormat, bool mipChain) { }

        public void SetPixels32(Color32[] colors)
        {
            Pixels = colors;
        }

        public void Apply() { }
    }

    public sealed class TerrainLayer : Object
    {
        public Texture2D diffuseTexture { get; set; }

        public Vector2 tileSize { get; set; }

        public float smoothness { get; set; }
    }

    public sealed class TreePrototype
    {
        public GameObject prefab { get; set; }
    }

    public struct TreeInstance
    {
        public Vector3 position;
        public float widthScale, heightScale, rotation;
        public Color32 color, lightmapColor;
        public int prototypeIndex;
    }

    public sealed class TerrainData : Object
    {
        internal static int TreesSet;
        private TreePrototype[] prototypes = new TreePrototype[0];

        public TreePrototype[] treePrototypes
        {
            get { return prototypes; }
            set
            {
                if (Array.Exists(treeInstances, tree => tree.prototypeIndex >= value.Length))
                    throw new Exception("a tree without a prototype");
                prototypes = value;
            }
        }

        public TreeInstance[] treeInstances { get; private set; } = new TreeInstance[0];

        public void SetTreeInstances(TreeInstance[] instances, bool snapToHeight)
        {
            TreesSet++;
            if (snapToHeight || Array.Exists(instances, tree => tree.prototypeIndex >= prototypes.Length))
                throw new Exception("trees that are not expected");
            treeInstances = instances;
        }

        /// <summary>Whether SetHeights truncates or rounds; the reference does not say.</summary>
        internal static bool Truncates;
        internal static int HeightsSet, AlphamapsSet;

        internal ushort[,] Stored = new ushort[33, 33];
        internal float[,,] Alphamaps = new float[16, 16, 0];
        private TerrainLayer[] layers = new TerrainLayer[0];
        private int resolution = 33, alphamaps = 16;

        public int heightmapResolution
        {
            get { return resolution; }
            set
            {
                resolution = value;
                Stored = new ushort[value, value];
                // Unity keeps the distance between samples.
                size = new Vector3(value - 1, size.y, value - 1);
            }
        }

        public Vector3 size { get; set; }

        public int alphamapLayers => layers.Length;

        public int alphamapResolution
        {
            get { return alphamaps; }
            set
            {
                alphamaps = value;
                Alphamaps = new float[value, value, layers.Length];
            }
        }

        public TerrainLayer[] terrainLayers
        {
            get { return layers; }
            set
            {
                if (value.Length != layers.Length)
                    Alphamaps = new float[alphamaps, alphamaps, value.Length];
                layers = value;
            }
        }

        public void SetHeights(int xBase, int yBase, float[,] heights)
        {
            HeightsSet++;
            for (int y = 0; y < heights.GetLength(0); y++)
                for (int x = 0; x < heights.GetLength(1); x++)
                {
                    float steps = Math.Min(Math.Max(heights[y, x], 0f), 1f) * 32766f;
                    Stored[yBase + y, xBase + x] = (ushort)(Truncates ? steps : steps + 0.5f);
                }
        }

        public float[,,] GetAlphamaps(int x, int y, int width, int height)
        {
            var map = new float[height, width, alphamapLayers];
            for (int row = 0; row < height; row++)
                for (int column = 0; column < width; column++)
                    for (int layer = 0; layer < alphamapLayers; layer++)
                        map[row, column, layer] = Alphamaps[y + row, x + column, layer];
            return map;
        }

        public void SetAlphamaps(int x, int y, float[,,] map)
        {
            AlphamapsSet++;
            if (map.GetLength(2) != alphamapLayers)
                throw new Exception("Float array size wrong (layers should be " + alphamapLayers + ")");
            for (int row = 0; row < map.GetLength(0); row++)
                for (int column = 0; column < map.GetLength(1); column++)
                    for (int layer = 0; layer < map.GetLength(2); layer++)
                        Alphamaps[y + row, x + column, layer] = map[row, column, layer];
        }
    }

    public sealed class Terrain : Behaviour
    {
        internal Terrain Left, Top, Right, Bottom;

        public TerrainData terrainData { get; set; }

        public bool allowAutoConnect { get; set; }

        public int groupingID { get; set; }

        public void SetNeighbors(Terrain left, Terrain top, Terrain right, Terrain bottom)
        {
            Left = left;
            Top = top;
            Right = right;
            Bottom = bottom;
        }

        public void Flush() { }

        public static GameObject CreateTerrainGameObject(TerrainData assignTerrain)
        {
            var made = new GameObject("Terrain");
            made.Add(new Terrain { terrainData = assignTerrain });
            return made;
        }
    }
}

namespace UnityEngine.SceneManagement
{
    public struct Scene
    {
        internal int Handle;
    }

    public class SceneManager
    {
        internal static Scene Active;

        public static void MoveGameObjectToScene(GameObject go, Scene scene)
        {
            go.scene = scene;
        }
    }
}

namespace UnityEditor
{
    using Object = UnityEngine.Object;

    [AttributeUsage(AttributeTargets.Class)]
    public class InitializeOnLoadAttribute : Attribute { }

    [AttributeUsage(AttributeTargets.Method, AllowMultiple = true)]
    public sealed class MenuItem : Attribute
    {
        public MenuItem(string itemName) { }

        public MenuItem(string itemName, bool isValidateFunction) { }
    }

    public sealed class Menu
    {
        public static void SetChecked(string menuPath, bool isChecked) { }
    }

    public sealed class EditorUserSettings : Object
    {
        private static readonly Dictionary<string, string> Values = new Dictionary<string, string>();

        public static string GetConfigValue(string name)
        {
            string value;
            return Values.TryGetValue(name, out value) ? value : null;
        }

        public static void SetConfigValue(string name, string value)
        {
            Values[name] = value;
        }
    }

    public sealed class EditorApplication
    {
        public delegate void CallbackFunction();

        public static CallbackFunction update;

        internal static double Now;

        public static double timeSinceStartup => Now;

        public static bool isPlayingOrWillChangePlaymode => false;

        public static bool isCompiling => false;

        public static bool isUpdating => false;
    }

    public sealed class EditorUtility
    {
        public static string OpenFilePanel(string title, string directory, string extension) => "";

        public static bool DisplayDialog(string title, string message, string ok) => true;

        public static void DisplayProgressBar(string title, string info, float progress) { }

        public static void ClearProgressBar() { }

        public static bool IsPersistent(Object target) => AssetDatabase.Assets.ContainsValue(target);

        internal static readonly HashSet<Object> Dirty = new HashSet<Object>();

        /// <summary>Called when an asset has changed, to let something happen during an import.</summary>
        internal static Action<Object> OnDirty;

        public static void SetDirty(Object target)
        {
            Dirty.Add(target);
            OnDirty?.Invoke(target);
        }
    }

    public sealed class AssetDatabase
    {
        internal static readonly Dictionary<string, Object> Assets = new Dictionary<string, Object>();

        public static Object LoadAssetAtPath(string assetPath, Type type)
        {
            Object asset;
            return Assets.TryGetValue(assetPath, out asset) && type.IsInstanceOfType(asset) ? asset : null;
        }

        public static string GetAssetPath(Object assetObject)
        {
            foreach (KeyValuePair<string, Object> asset in Assets)
                if (asset.Value == assetObject)
                    return asset.Key;
            return "";
        }

        public static void CreateAsset(Object asset, string path)
        {
            if (!IsValidFolder(path.Substring(0, path.LastIndexOf('/'))))
                throw new Exception("no folder for " + path);
            Assets[path] = asset;
        }

        public static bool IsValidFolder(string path) => System.IO.Directory.Exists(path);

        public static string CreateFolder(string parentFolder, string newFolderName)
        {
            if (!IsValidFolder(parentFolder))
                throw new Exception("no folder " + parentFolder);
            System.IO.Directory.CreateDirectory(parentFolder + "/" + newFolderName);
            return "";
        }

        public static void ImportAsset(string path)
        {
            if (!System.IO.File.Exists(path))
                throw new Exception("no file " + path);
        }

        /// <summary>Called when an asset is saved, to let something happen during an import.</summary>
        internal static Action<Object> OnSave;

        public static void SaveAssetIfDirty(Object obj)
        {
            EditorUtility.Dirty.Remove(obj);
            OnSave?.Invoke(obj);
        }
    }

    public sealed class PrefabUtility
    {
        public static UnityEngine.GameObject SaveAsPrefabAsset(UnityEngine.GameObject instanceRoot, string assetPath)
        {
            // Prefabs are in no scene.
            var prefab = new UnityEngine.GameObject(instanceRoot.name);
            UnityEngine.GameObject.All.Remove(prefab);
            prefab.Components.AddRange(instanceRoot.Components.GetRange(1, instanceRoot.Components.Count - 1));
            AssetDatabase.CreateAsset(prefab, assetPath);
            return prefab;
        }
    }

    public class Undo
    {
        internal static readonly List<Object> Created = new List<Object>();

        public static void RegisterCreatedObjectUndo(Object objectToUndo, string name)
        {
            Created.Add(objectToUndo);
        }
    }
}

namespace UnityEditor.SceneManagement
{
    using UnityEngine.SceneManagement;

    public sealed class EditorSceneManager
    {
        public static bool MarkSceneDirty(Scene scene) => true;
    }
}
