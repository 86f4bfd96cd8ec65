//! Moving the camera: with the pointer, the wheel, the keys, and to presets.

use egui::{Key, PointerButton, Pos2, Response, Ui, Vec2};

use crate::app::views::scene::picker::Picker;
use crate::app::widgets::{arrow_keys, zoom_keys};
use crate::engine::cast::ToFloat;
use crate::scene::camera::Camera;
use crate::scene::projection::Ray;

/// The duration of a flight from one camera to another, seconds.
const FLIGHT_S: f64 = 0.35;

/// An arrow key turns the camera as far as a drag of so many points.
const KEY_ORBIT: f32 = 40.0;

/// A preset of the camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CameraPreset {
    /// The whole terrain, from the current direction.
    Framed,
    /// The default view of a new terrain: a corner in front, from halfway above.
    ThreeQuarter,
    /// From above, north up.
    FromAbove,
    /// From the nearest of the four sides, or from the next one if the camera is already there.
    FromTheSide,
    /// The current view with north up.
    North,
}

/// A camera in motion.
struct Flight {
    from: Camera,
    to: Camera,
    began: f64,
}

/// The block that the camera frames, in scene units: half its width and depth, its bottom and its top.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub(super) half_size: [f32; 2],
    pub(super) y_range: [f32; 2],
}

/// The camera of the 3-D view.
pub(super) struct Navigation {
    pub(super) camera: Camera,
    flight: Option<Flight>,
    /// Whether the camera still frames the whole terrain, and is to follow changes of the pane and of the terrain.
    pub(super) is_framed: bool,
    /// Whether the user has not moved it yet.
    pub(super) is_at_default: bool,
    /// The aspect ratio of the pane, width to height.
    pub(super) aspect: f32,
    /// Whether it jumps to its destinations: on a software renderer a flight would stutter.
    pub(super) jumps: bool,
    /// When anything in the view moved last, seconds.
    pub(super) moved_at: f64,
}

impl Default for Navigation {
    fn default() -> Self {
        Self {
            camera: Camera::default(),
            flight: None,
            is_framed: true,
            is_at_default: true,
            aspect: 1.5,
            jumps: false,
            moved_at: f64::MIN,
        }
    }
}

impl Navigation {
    /// Returns to the default camera.
    pub(super) fn reset(&mut self) {
        (self.camera, self.flight, self.is_framed) = (Camera::default(), None, true);
    }

    /// Flies to a preset; `now` is the time in seconds.
    pub(super) fn apply(&mut self, preset: CameraPreset, block: Block, now: f64) {
        const QUARTER: f32 = std::f32::consts::FRAC_PI_2;
        let mut to = self.flight.as_ref().map_or(self.camera, |flight| flight.to);
        match preset {
            CameraPreset::Framed => {}
            CameraPreset::ThreeQuarter => {
                let Camera { azimuth, pitch, orthographic, .. } = Camera::default();
                (to.azimuth, to.pitch, to.orthographic) = (azimuth, pitch, orthographic);
            }
            CameraPreset::FromAbove => (to.azimuth, to.pitch, to.orthographic) = (0.0, QUARTER, 1.0),
            CameraPreset::FromTheSide => {
                let is_there = to.pitch == 0.0 && to.orthographic == 1.0;
                let sides = (to.azimuth / QUARTER).round() + f32::from(u8::from(is_there));
                (to.azimuth, to.pitch, to.orthographic) = (sides * QUARTER, 0.0, 1.0);
            }
            CameraPreset::North => to.azimuth = 0.0,
        }
        self.is_framed |= preset != CameraPreset::North;
        if self.is_framed {
            to.frame(block.half_size, block.y_range, self.aspect);
        }
        self.is_at_default = false;
        self.fly_to(to, now);
    }

    fn fly_to(&mut self, to: Camera, now: f64) {
        if self.jumps {
            (self.camera, self.flight, self.moved_at) = (to, None, now);
        } else {
            self.flight = Some(Flight { from: self.camera, to, began: now });
        }
    }

    /// Follows the aspect ratio of the pane, and the size of the terrain where the camera still frames it.
    pub(super) fn fit(&mut self, block: Block, aspect: f32, now: f64) {
        let before = std::mem::replace(&mut self.aspect, aspect);
        let cameras = match &mut self.flight {
            Some(flight) if self.is_framed => [Some(&mut flight.to), None],
            Some(flight) => [Some(&mut flight.to), Some(&mut flight.from)],
            None => [Some(&mut self.camera), None],
        };
        for camera in cameras.into_iter().flatten() {
            if self.is_framed {
                camera.frame(block.half_size, block.y_range, aspect);
            } else if aspect != before {
                camera.adapt_to_aspect(block.half_size, block.y_range, [before, aspect]);
            }
        }
        if aspect != before {
            self.moved_at = now;
        }
    }

    /// Advances the flight, if there is one.
    pub(super) fn advance(&mut self, ui: &Ui, now: f64) {
        let Some(flight) = &self.flight else { return };
        let t = ((now - flight.began) / FLIGHT_S).to_f32().clamp(0.0, 1.0);
        let camera = Camera::interpolate(&flight.from, &flight.to, t);
        if camera != self.camera {
            self.moved_at = now;
        }
        self.camera = camera;
        if t >= 1.0 {
            self.flight = None;
        }
        ui.ctx().request_repaint();
    }

    /// Moves the camera by the input of the frame. `picker` shows the scene as the current camera sees it. A tool takes
    /// the primary button.
    pub(super) fn handle_input(&mut self, ui: &Ui, response: &Response, picker: &Picker, has_tool: bool, now: f64) {
        let mut camera = self.camera;
        drag(&mut camera, response, picker, has_tool);
        scroll(&mut camera, ui, response, picker);
        let arrows = arrow_keys(ui, response);
        if arrows != Vec2::ZERO {
            camera.orbit(vec2(KEY_ORBIT * arrows));
        }
        let factor = zoom_keys(ui, response);
        if factor != 1.0 {
            camera.zoom(factor, camera.pivot);
        }
        fly(&mut camera, ui, response);
        let is_double = response.double_clicked() && !has_tool;
        let pivot = response.interact_pointer_pos().filter(|_| is_double).and_then(|at| picker.terrain_at(at));
        if camera != self.camera {
            (self.camera, self.flight, self.moved_at) = (camera, None, now);
            (self.is_framed, self.is_at_default) = (false, false);
        }
        if let Some(pivot) = pivot {
            (self.is_framed, self.is_at_default) = (false, false);
            self.fly_to(Camera { pivot, ..self.camera }, now);
        }
    }
}

fn vec2(v: Vec2) -> glam::Vec2 {
    glam::Vec2::new(v.x, v.y)
}

/// The point of a ray at the depth of the pivot.
fn at_pivot_depth(camera: &Camera, picker: &Picker, ray: &Ray) -> glam::Vec3 {
    ray.at(picker.projection.depth(camera.pivot))
}

/// The point that is grabbed at a place on the pane: on the terrain, or on the ground plane around it if that is near
/// enough.
fn grabbed(camera: &Camera, picker: &Picker, at: Pos2) -> Option<glam::Vec3> {
    picker.terrain_at(at).or_else(|| {
        let ray = picker.ray(at);
        let depth = (picker.bounds.bottom - ray.origin.y) / ray.direction.y;
        let is_near = depth > ray.near && depth < 2.0 * camera.distance;
        let is_orthographic = camera.orthographic == 1.0;
        if is_orthographic { Some(at_pivot_depth(camera, picker, &ray)) } else { is_near.then(|| ray.at(depth)) }
    })
}

/// Orbits with the primary button and pans with the others; beside a tool, orbits with the secondary button.
fn drag(camera: &mut Camera, response: &Response, picker: &Picker, has_tool: bool) {
    let drag = response.drag_delta();
    if drag == Vec2::ZERO {
        return;
    }
    let before = *camera;
    let orbits_by = if has_tool { PointerButton::Secondary } else { PointerButton::Primary };
    if response.dragged_by(orbits_by) {
        camera.orbit(vec2(drag));
    }
    let pans = response.dragged_by(PointerButton::Middle) || !has_tool && response.dragged_by(PointerButton::Secondary);
    if let Some(at) = response.interact_pointer_pos().filter(|_| pans)
        && let Some(grabbed) = grabbed(&before, picker, at - drag)
    {
        camera.focus_on(&picker.projection, grabbed);
        camera.pan(grabbed, picker.ray(at));
    }
}

/// Zooms towards the point under the pointer.
fn scroll(camera: &mut Camera, ui: &Ui, response: &Response, picker: &Picker) {
    let Some(at) = response.hover_pos() else { return };
    let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
    let factor = libm::expf(scroll / 240.0) * pinch;
    if factor == 1.0 {
        return;
    }
    match grabbed(camera, picker, at) {
        Some(target) => {
            camera.focus_on(&picker.projection, target);
            camera.zoom(factor, target);
        }
        // The sky.
        None => camera.zoom(factor, at_pivot_depth(camera, picker, &picker.ray(at))),
    }
}

/// Flies with W, A, S and D while the secondary button is held.
fn fly(camera: &mut Camera, ui: &Ui, response: &Response) {
    let is_flying = response.is_pointer_button_down_on() && ui.input(|input| input.pointer.secondary_down());
    if !is_flying || ui.ctx().text_edit_focused() {
        return;
    }
    let (steering, seconds) = ui.input(|input| {
        let key = |key| f32::from(u8::from(input.key_down(key)));
        let steering = glam::Vec2::new(key(Key::D) - key(Key::A), key(Key::W) - key(Key::S));
        (steering, input.stable_dt.min(0.1))
    });
    if steering != glam::Vec2::ZERO {
        camera.fly(steering, seconds);
        ui.ctx().request_repaint();
    }
}
