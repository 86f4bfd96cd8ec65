//! The renderer of the 3-D view, on the window's device.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use eframe::egui_wgpu::{self, RenderState};

use crate::scene::frame::Frame;
use crate::scene::{GpuDevice, SceneRenderer};
use crate::worker::Wake;

/// Whether the 3-D view can draw.
enum State {
    /// No device was attached yet.
    Untried,
    /// Why it cannot.
    Unavailable(String),
    Ready(Arc<Mutex<SceneRenderer>>),
}

/// The renderer and its device.
pub(super) struct SceneGpu {
    state: State,
    device: Option<GpuDevice>,
    /// Whether the device was lost: its driver was updated, or it was unplugged.
    is_lost: Arc<AtomicBool>,
}

impl Default for SceneGpu {
    fn default() -> Self {
        Self { state: State::Untried, device: None, is_lost: Arc::default() }
    }
}

/// Locks, even if a thread panicked while it held the lock: the renderer is consistent between two calls.
fn lock(renderer: &Mutex<SceneRenderer>) -> MutexGuard<'_, SceneRenderer> {
    renderer.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SceneGpu {
    /// Creates the renderer, and creates it again on another device. `wake` is called when the device is lost.
    pub(super) fn attach(&mut self, window: Option<&RenderState>, wake: impl FnOnce() -> Wake) {
        let is_attached = match (&self.state, window) {
            (State::Ready(renderer), Some(window)) => !self.is_lost() && lock(renderer).uses(&window.device),
            (State::Untried, _) => false,
            (State::Unavailable(_), _) | (State::Ready(_), None) => true,
        };
        if is_attached {
            return;
        }
        self.is_lost = Arc::default();
        let Some(window) = window else {
            let why = "The 3-D view is unavailable: no graphics adapter was found. Everything else works.";
            self.state = State::Unavailable(why.into());
            return;
        };
        let device = GpuDevice::new(&window.adapter, &window.device, &window.queue);
        self.state = match SceneRenderer::interactive(&device, window.target_format) {
            Ok(renderer) => State::Ready(Arc::new(Mutex::new(renderer))),
            Err(error) => State::Unavailable(format!("The graphics adapter cannot draw the terrain: {error}")),
        };
        self.device = Some(device);
        let (is_lost, wake) = (self.is_lost.clone(), wake());
        window.device.set_device_lost_callback(move |_, _| {
            is_lost.store(true, Ordering::Release);
            wake();
        });
    }

    /// Whether the device was lost, so that nothing can be drawn on it any more.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
    }

    pub(super) fn device(&self) -> Option<&GpuDevice> {
        self.device.as_ref()
    }

    /// The renderer, if there is one.
    pub(super) fn renderer(&self) -> Option<MutexGuard<'_, SceneRenderer>> {
        match &self.state {
            State::Ready(renderer) => Some(lock(renderer)),
            State::Untried | State::Unavailable(_) => None,
        }
    }

    pub(super) fn is_software(&self) -> bool {
        self.renderer().is_some_and(|renderer| renderer.is_software)
    }

    /// Why nothing can be drawn, if so.
    pub(super) fn error(&self) -> Option<String> {
        match &self.state {
            State::Ready(renderer) => lock(renderer).error.clone(),
            State::Unavailable(why) => Some(why.clone()),
            State::Untried => None,
        }
    }

    /// The callback that draws a frame into the window.
    pub(super) fn paint_callback(&self, pane: egui::Rect, frame: Frame) -> Option<egui::PaintCallback> {
        let State::Ready(renderer) = &self.state else { return None };
        Some(egui_wgpu::Callback::new_paint_callback(pane, PaintFrame { renderer: renderer.clone(), frame }))
    }
}

/// A frame to be drawn.
struct PaintFrame {
    renderer: Arc<Mutex<SceneRenderer>>,
    frame: Frame,
}

impl egui_wgpu::CallbackTrait for PaintFrame {
    fn prepare(
        &self,
        _device: &wgpu::Device,
        _queue: &wgpu::Queue,
        _screen: &egui_wgpu::ScreenDescriptor,
        _encoder: &mut wgpu::CommandEncoder,
        _resources: &mut egui_wgpu::CallbackResources,
    ) -> Vec<wgpu::CommandBuffer> {
        let mut renderer = lock(&self.renderer);
        if renderer.error.is_none()
            && let Err(error) = renderer.draw(&self.frame)
        {
            renderer.error = Some(format!("The graphics adapter could not draw the terrain: {error}"));
        }
        Vec::new()
    }

    fn paint(
        &self,
        _info: egui::PaintCallbackInfo,
        pass: &mut wgpu::RenderPass<'static>,
        _resources: &egui_wgpu::CallbackResources,
    ) {
        lock(&self.renderer).present(pass);
    }
}
