//! The plugin for Godot that imports exports for Terrain3D and HTerrain.

use crate::files::export::HelperFile;

/// A file of the plugin, in a folder that Godot ignores, so that it is loaded only from where it is installed.
macro_rules! plugin_file {
    ($name:literal) => {
        HelperFile {
            path: concat!("upthrust_plugin/addons/upthrust/", $name),
            contents: include_str!(concat!("../../../assets/helpers/godot/addons/upthrust/", $name)),
        }
    };
}

pub(super) const GODOT_PLUGIN: &[HelperFile] = &[
    HelperFile { path: "upthrust_plugin/.gdignore", contents: "" },
    plugin_file!("README.md"),
    plugin_file!("checksum.gd"),
    plugin_file!("folders.gd"),
    plugin_file!("hterrain_target.gd"),
    plugin_file!("importer.gd"),
    plugin_file!("manifest.gd"),
    plugin_file!("plugin.cfg"),
    plugin_file!("plugin.gd"),
    plugin_file!("scatter.gd"),
    plugin_file!("scatter_layer.gd"),
    plugin_file!("terrain3d_target.gd"),
];

/// How the plugin places the scattered instances.
pub(super) const GODOT_SCATTER_STEP: &str = "the plugin places the scattered instances: a node for each layer below the terrain; choose your Mesh in its \
     inspector in place of the placeholder shape.";

/// How to use the plugin.
pub(super) const GODOT_PLUGIN_STEP: &str = "the plugin does all this: copy addons/upthrust from upthrust_plugin into the addons folder of your project, \
     enable it, then choose Project > Tools > Import Upthrust terrain… and open upthrust.json. The other steps do it by hand.";
