//! Colours, spacing and fonts: greys and one accent.

use egui::epaint::text::{FontInsert, FontPriority, InsertFontFamily};
use egui::style::{WidgetVisuals, Widgets};
use egui::{
    Color32, Context, CornerRadius, FontData, FontFamily, FontId, FontTweak, Shadow, Stroke, TextStyle, Theme, Vec2,
};
use egui_material_icons::FONT_FAMILY_OUTLINED;

/// The colours of a theme.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Colours {
    /// The background of the window and the panes.
    pub(crate) window: Color32,
    /// Panels.
    pub(crate) panel: Color32,
    /// Cards and buttons.
    pub(crate) raised: Color32,
    /// Cards and buttons under the pointer.
    pub(crate) hovered: Color32,
    /// Text fields.
    pub(crate) field: Color32,
    /// Rails.
    pub(crate) sunken: Color32,
    /// Separators and outlines.
    pub(crate) line: Color32,
    /// Text.
    pub(crate) text: Color32,
    /// Less important text.
    pub(crate) weak: Color32,
    /// Active, playing or dragged elements.
    pub(crate) accent: Color32,
    /// Text on the accent.
    pub(crate) on_accent: Color32,
    /// The accent as text on a panel.
    pub(crate) accent_text: Color32,
    /// Error messages.
    pub(crate) error: Color32,
    /// The background of text over images.
    pub(crate) text_background: Color32,
}

const DARK: Colours = Colours {
    window: Color32::from_rgb(0x1b, 0x1c, 0x1e),
    panel: Color32::from_rgb(0x23, 0x24, 0x27),
    raised: Color32::from_rgb(0x2d, 0x2f, 0x33),
    hovered: Color32::from_rgb(0x38, 0x3a, 0x3f),
    field: Color32::from_rgb(0x18, 0x19, 0x1b),
    sunken: Color32::from_rgb(0x18, 0x19, 0x1b),
    line: Color32::from_rgb(0x34, 0x36, 0x3a),
    text: Color32::from_rgb(0xd6, 0xd8, 0xdc),
    weak: Color32::from_rgb(0x97, 0x9b, 0xa3),
    accent: Color32::from_rgb(0xff, 0x7a, 0x3c),
    on_accent: Color32::from_rgb(0x18, 0x19, 0x1b),
    accent_text: Color32::from_rgb(0xff, 0x8f, 0x5a),
    error: Color32::from_rgb(0xff, 0x8a, 0x80),
    text_background: Color32::from_rgba_unmultiplied_const(0x1b, 0x1c, 0x1e, 0xd4),
};

const LIGHT: Colours = Colours {
    window: Color32::from_rgb(0xdc, 0xdd, 0xdf),
    panel: Color32::from_rgb(0xec, 0xec, 0xee),
    raised: Color32::from_rgb(0xfb, 0xfb, 0xfc),
    hovered: Color32::from_rgb(0xff, 0xff, 0xff),
    field: Color32::from_rgb(0xff, 0xff, 0xff),
    sunken: Color32::from_rgb(0xd8, 0xd9, 0xdc),
    line: Color32::from_rgb(0xc6, 0xc8, 0xcc),
    text: Color32::from_rgb(0x26, 0x28, 0x2c),
    weak: Color32::from_rgb(0x5c, 0x60, 0x68),
    accent: Color32::from_rgb(0xf0, 0x6a, 0x2c),
    on_accent: Color32::from_rgb(0x18, 0x19, 0x1b),
    accent_text: Color32::from_rgb(0xb0, 0x42, 0x0c),
    error: Color32::from_rgb(0xb3, 0x26, 0x1e),
    text_background: Color32::from_rgba_unmultiplied_const(0xfb, 0xfb, 0xfc, 0xe2),
};

impl Colours {
    /// Small text after a label, on the accent if the label is selected.
    pub(crate) fn small_print(&self, is_selected: bool) -> Color32 {
        if is_selected { self.on_accent } else { self.weak }
    }
}

/// The colours of the theme of `ui`.
pub(crate) fn colours(ui: &egui::Ui) -> Colours {
    if ui.visuals().dark_mode { DARK } else { LIGHT }
}

/// The colours of the theme of the window.
pub(crate) fn colours_of(ctx: &Context) -> Colours {
    if ctx.theme() == Theme::Dark { DARK } else { LIGHT }
}

/// The icons that the editor uses, which `scripts/icon-font` has taken from the font of Material Symbols. That one is a
/// hundred times as large.
fn icon_font() -> FontInsert {
    let mut font = FontData::from_static(include_bytes!("../../../assets/icons.ttf"));
    // Icons are centred on the text beside them.
    font.tweak.y_offset_factor = 0.05;
    let icons = FontFamily::Name(FONT_FAMILY_OUTLINED.into());
    let families = vec![
        InsertFontFamily { family: FontFamily::Proportional, priority: FontPriority::Lowest },
        InsertFontFamily { family: icons, priority: FontPriority::Highest },
    ];
    FontInsert::new(FONT_FAMILY_OUTLINED, font, families)
}

/// The symbols that egui's widgets draw; the whole font is a hundred times as large. Other emoji, in names of the user, come
/// from the fonts of the system.
fn symbol_font() -> FontInsert {
    let tweak = FontTweak { scale: 0.9, ..Default::default() };
    let font = FontData::from_static(include_bytes!("../../../assets/symbols.ttf")).tweak(tweak);
    let families = [FontFamily::Proportional, FontFamily::Monospace]
        .map(|family| InsertFontFamily { family, priority: FontPriority::Lowest });
    FontInsert::new("symbols", font, families.into())
}

/// The arrow → from egui's monospace font, for its proportional one.
fn arrow_font() -> FontInsert {
    let font = FontData::from_static(include_bytes!("../../../assets/arrow.ttf"));
    let families = vec![InsertFontFamily { family: FontFamily::Proportional, priority: FontPriority::Lowest }];
    FontInsert::new("arrow", font, families)
}

/// Installs both themes and the fonts.
pub(crate) fn install(ctx: &Context) {
    for font in [icon_font(), symbol_font(), arrow_font()] {
        ctx.add_font(font);
    }
    for (theme, colours) in [(Theme::Dark, DARK), (Theme::Light, LIGHT)] {
        ctx.style_mut_of(theme, |style| {
            set_colours(&mut style.visuals, &colours);
            style.text_styles = [
                (TextStyle::Small, FontId::proportional(11.0)),
                (TextStyle::Body, FontId::proportional(13.0)),
                (TextStyle::Button, FontId::proportional(13.0)),
                (TextStyle::Monospace, FontId::monospace(12.0)),
                (TextStyle::Heading, FontId::proportional(15.0)),
            ]
            .into();
            style.spacing.item_spacing = Vec2::new(8.0, 4.0);
            style.spacing.button_padding = Vec2::new(8.0, 2.0);
            style.spacing.interact_size = Vec2::new(40.0, 20.0);
            style.spacing.slider_rail_height = 4.0;
            style.spacing.indent = 12.0;
            style.spacing.tooltip_width = 320.0;
            // Space for the scroll bar, so that it covers nothing.
            style.spacing.scroll.floating_allocated_width = 8.0;
            style.interaction.selectable_labels = false;
            style.interaction.tooltip_delay = 0.4;
        });
    }
}

fn set_colours(visuals: &mut egui::Visuals, colours: &Colours) {
    let rounded = CornerRadius::same(4);
    let widget = |fill: Color32, line: Color32, text: Color32| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: Stroke::new(1.0, line),
        corner_radius: rounded,
        fg_stroke: Stroke::new(1.0, text),
        expansion: 0.0,
    };
    visuals.widgets = Widgets {
        noninteractive: widget(colours.panel, colours.line, colours.text),
        // Rails and swatch borders contrast with the cards below them; buttons have the colour of cards.
        inactive: WidgetVisuals { bg_fill: colours.line, ..widget(colours.raised, colours.line, colours.text) },
        hovered: widget(colours.hovered, colours.line, colours.text),
        active: widget(colours.hovered, colours.accent, colours.text),
        open: widget(colours.hovered, colours.line, colours.text),
    };
    visuals.selection.bg_fill = colours.accent;
    visuals.selection.stroke = Stroke::new(1.0, colours.on_accent);
    visuals.hyperlink_color = colours.accent_text;
    visuals.weak_text_color = Some(colours.weak);
    visuals.faint_bg_color = colours.raised;
    visuals.extreme_bg_color = colours.sunken;
    visuals.text_edit_bg_color = Some(colours.field);
    visuals.error_fg_color = colours.error;
    visuals.warn_fg_color = colours.accent_text;
    visuals.panel_fill = colours.panel;
    visuals.window_fill = colours.panel;
    visuals.window_stroke = Stroke::new(1.0, colours.line);
    visuals.window_corner_radius = CornerRadius::same(8);
    visuals.menu_corner_radius = CornerRadius::same(6);
    let shadow = Shadow { offset: [0, 4], blur: 16, spread: 0, color: Color32::from_black_alpha(90) };
    (visuals.window_shadow, visuals.popup_shadow) = (shadow, shadow);
    visuals.indent_has_left_vline = false;
    visuals.slider_trailing_fill = true;
    visuals.handle_shape = egui::style::HandleShape::Rect { aspect_ratio: 0.5 };
}

/// Sets the colours of a checkbox. egui draws box and tick in those of buttons, which are pale, so that a ticked one looks
/// disabled.
pub(crate) fn checkbox_visuals(visuals: &mut egui::Visuals, is_on: bool) {
    let colours = if visuals.dark_mode { DARK } else { LIGHT };
    let (fill, outline) = if is_on { (colours.accent, colours.accent_text) } else { (colours.field, colours.weak) };
    let Widgets { inactive, hovered, active, .. } = &mut visuals.widgets;
    for (widget, line) in [(inactive, Stroke::new(1.0, outline)), (hovered, Stroke::new(1.0, colours.text))] {
        (widget.bg_fill, widget.bg_stroke) = (fill, line);
        widget.fg_stroke = Stroke::new(2.0, colours.on_accent);
    }
    // Pressed or focused.
    (active.bg_fill, active.bg_stroke) = (fill, Stroke::new(2.0, colours.text));
    active.fg_stroke = Stroke::new(2.0, colours.on_accent);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// Adds the names of icons in all source files below a folder.
    fn add_icons(folder: &Path, names: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                add_icons(&path, names);
                continue;
            }
            let text = std::fs::read_to_string(path).expect("source");
            let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
            names.extend(words.filter(|word| word.starts_with(concat!("ICON", "_"))).map(String::from));
        }
    }

    #[test]
    fn the_icon_font_has_the_icons_in_use() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut used = BTreeSet::new();
        add_icons(&root.join("src/app"), &mut used);
        let list = std::fs::read_to_string(root.join("assets/icons.txt")).expect("the list");
        let there: BTreeSet<String> = list.lines().map(String::from).collect();
        assert_eq!(there, used, "run scripts/icon-font");
    }

    /// The contrast of two colours (WCAG 2.1).
    fn contrast(a: Color32, b: Color32) -> f32 {
        let luminance = |colour: Color32| {
            let [r, g, b, _] = colour.to_array().map(crate::engine::image::linear_from_srgb);
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_over_images_has_enough_contrast() {
        for colours in [DARK, LIGHT] {
            for image in [Color32::BLACK, Color32::WHITE, Color32::from_rgb(0x40, 0x80, 0xc0), colours.accent] {
                let text_background = image.blend(colours.text_background);
                assert!(contrast(colours.text, text_background) >= 4.5, "text over {image:?}");
                assert!(contrast(colours.accent_text, text_background) >= 3.0, "accent text over {image:?}");
            }
        }
    }

    #[test]
    fn checkboxes_have_enough_contrast() {
        for (mut visuals, colours) in [(egui::Visuals::dark(), DARK), (egui::Visuals::light(), LIGHT)] {
            for is_on in [false, true] {
                checkbox_visuals(&mut visuals, is_on);
                let Widgets { inactive, hovered, active, .. } = visuals.widgets;
                for widget in [inactive, hovered, active] {
                    // WCAG 2.1 asks for 3 to 1 for the parts of a control.
                    for background in [colours.panel, colours.raised] {
                        assert!(contrast(widget.bg_stroke.color, background) >= 3.0, "box, on: {is_on}");
                    }
                    let is_tick_visible = contrast(widget.fg_stroke.color, widget.bg_fill) >= 4.5;
                    assert!(!is_on || is_tick_visible, "tick");
                }
            }
            let [off, on] = [colours.field, colours.accent];
            assert!(contrast(off, on) >= 2.5, "ticked boxes differ from others without their ticks");
        }
    }

    #[test]
    fn text_has_enough_contrast_on_all_backgrounds() {
        for colours in [DARK, LIGHT] {
            for background in [colours.window, colours.panel, colours.raised, colours.hovered] {
                assert!(contrast(colours.text, background) >= 4.5);
            }
            assert!(contrast(colours.on_accent, colours.accent) >= 4.5);
            for (is_selected, background) in [(true, colours.accent), (false, colours.panel), (false, colours.raised)] {
                assert!(contrast(colours.small_print(is_selected), background) >= 4.5, "selected: {is_selected}");
            }
            for text in [colours.weak, colours.accent_text, colours.error] {
                assert!(contrast(text, colours.panel) >= 4.5, "{text:?}");
                assert!(contrast(text, colours.raised) >= 4.5, "{text:?}");
            }
        }
    }
    #[test]
    fn arrows_have_a_glyph() {
        let mut harness = egui_kittest::Harness::new_ui(|_| {});
        install(&harness.ctx);
        harness.step();
        assert!(harness.ctx.fonts_mut(|fonts| fonts.has_glyph(&FontId::proportional(13.0), '→')));
    }
}
