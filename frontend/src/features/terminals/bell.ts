// The sound of the bell, if the settings ask for it.
let audio: AudioContext | null = null;
let last = 0;

export function beep() {
  const now = performance.now();
  if (now - last < 250) return; // ms; a program that rings in a loop must not sound like a siren
  last = now;
  try {
    audio ??= new AudioContext();
    const gain = audio.createGain();
    gain.gain.setValueAtTime(0.06, audio.currentTime);
    gain.gain.exponentialRampToValueAtTime(0.0001, audio.currentTime + 0.12);
    gain.connect(audio.destination);
    const tone = audio.createOscillator();
    tone.frequency.value = 660;
    tone.connect(gain);
    tone.start();
    tone.stop(audio.currentTime + 0.12);
  } catch {
    // The browser has no sound.
  }
}
