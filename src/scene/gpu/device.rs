//! The GPU device, which returns its errors as values.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

const NOT_FOUND: &str = "no graphics adapter was found";

/// A device with its queue.
#[derive(Clone)]
pub(crate) struct GpuDevice {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    /// Whether the adapter is a software renderer.
    pub(crate) is_software: bool,
}

impl GpuDevice {
    /// Wraps a device that is already in use, for example by a window.
    pub(crate) fn new(adapter: &wgpu::Adapter, device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        Self { device: device.clone(), queue: queue.clone(), is_software: is_software(adapter) }
    }

    /// Opens the best adapter of the system, which may be a software renderer. The variables WGPU_BACKEND and
    /// WGPU_POWER_PREF choose another one, as in the editor.
    pub(crate) fn request() -> Result<Self, String> {
        let adapter = match wgpu::Backends::from_env() {
            Some(chosen) => adapter(chosen)?,
            // OpenGL is opened only where there is nothing better, because NVIDIA's driver can hang when one thread shuts
            // down EGL while others use Vulkan.
            None => match adapter(wgpu::Backends::PRIMARY) {
                Ok(hardware) if !is_software(&hardware) => hardware,
                other => match (other, adapter(wgpu::Backends::GL)) {
                    (Ok(software), Ok(found)) if is_software(&found) => software,
                    (_, Ok(found)) => found,
                    (other, Err(_)) => other?,
                },
            },
        };
        // OpenGL has fewer guarantees than the other backends, and the renderer needs no more than WebGL 2.
        let limits = match adapter.get_info().backend {
            wgpu::Backend::Gl => wgpu::Limits::downlevel_webgl2_defaults(),
            _ => wgpu::Limits::default(),
        };
        let device = ready(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("scene"),
            required_limits: wgpu::Limits { max_texture_dimension_2d: 8192, ..limits },
            ..Default::default()
        }));
        let (device, queue) =
            device.ok_or(NOT_FOUND)?.map_err(|error| format!("{NOT_FOUND} that can draw: {error}"))?;
        Ok(Self::new(&adapter, &device, &queue))
    }
}

/// The best adapter of some backends.
fn adapter(backends: wgpu::Backends) -> Result<wgpu::Adapter, String> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        flags: wgpu::InstanceFlags::from_build_config().with_env(),
        backend_options: wgpu::BackendOptions::from_env_or_default(),
        memory_budget_thresholds: wgpu::MemoryBudgetThresholds::default(),
        display: None,
    });
    let adapter = ready(instance.request_adapter(&wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::from_env().unwrap_or(wgpu::PowerPreference::HighPerformance),
        ..Default::default()
    }));
    adapter.ok_or(NOT_FOUND)?.map_err(|error| format!("{NOT_FOUND} that can draw: {error}"))
}

fn is_software(adapter: &wgpu::Adapter) -> bool {
    adapter.get_info().device_type == wgpu::DeviceType::Cpu
}

/// The value of a future that is ready immediately, as with the native backends.
fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Runs work on the device and returns the first error that the device reports for it.
pub(super) fn checked<T>(device: &wgpu::Device, work: impl FnOnce() -> T) -> Result<T, String> {
    let filters = [wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::Internal];
    let [memory, validation, internal] = filters.map(|filter| device.push_error_scope(filter));
    let value = work();
    // Scopes must end in reverse order.
    let errors = [internal.pop(), validation.pop(), memory.pop()].map(|error| ready(error).flatten());
    match errors.into_iter().flatten().next() {
        Some(error) => Err(error.to_string()),
        None => Ok(value),
    }
}
