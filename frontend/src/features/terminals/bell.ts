// The sound of the bell, for those who asked for it.
let audio: AudioContext | null = null;
let last = 0;

export function beep() {
  const now = performance.now();
  if (now - last < 250) return; // a program in a loop is not to be heard as a siren
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
    // no sound here
  }
}
