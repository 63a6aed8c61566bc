import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;

/** WAV files of 16 kHz mono PCM16, and one that is made here: {@code Sound FILE.wav} writes it. */
public final class Sound {

  private static final int RATE = 16_000;
  private static final int HEADER_BYTES = 44;
  private static final double LOUD = 0.1; // root of the mean square
  private static final double QUIET = 0.002;

  /** The first two resonances of some vowels, in Hz: a, i, o, e. */
  private static final int[][] VOWELS = {{700, 1200}, {300, 2200}, {500, 900}, {400, 1900}};

  private Sound() {}

  /** Writes the sample to a file. */
  public static void main(String[] args) throws IOException {
    Files.write(Path.of(args[0]), sample());
  }

  // ---- Files -----------------------------------------------------------------------------------

  /** The samples of a WAV file, from -1 to 1. */
  public static float[] read(byte[] wav) {
    ByteBuffer bytes = ByteBuffer.wrap(wav).order(ByteOrder.LITTLE_ENDIAN);
    if (wav.length < HEADER_BYTES
        || !text(bytes, 0).equals("RIFF")
        || !text(bytes, 8).equals("WAVE")) {
      throw new IllegalArgumentException("expected a WAV file");
    }
    int at = 12;
    while (at + 8 <= wav.length && !text(bytes, at).equals("data")) {
      if (text(bytes, at).equals("fmt ")) {
        checkFormat(bytes, at + 8);
      }
      at += 8 + Math.ceilDiv(bytes.getInt(at + 4), 2) * 2;
    }
    if (at + 8 > wav.length) {
      throw new IllegalArgumentException("expected a WAV file with a chunk 'data', got none");
    }
    float[] samples = new float[Math.min(bytes.getInt(at + 4), wav.length - at - 8) / 2];
    for (int i = 0; i < samples.length; i++) {
      samples[i] = bytes.getShort(at + 8 + 2 * i) / 32_768f;
    }
    return samples;
  }

  private static String text(ByteBuffer bytes, int at) {
    byte[] four = new byte[4];
    bytes.get(at, four);
    return new String(four, StandardCharsets.ISO_8859_1);
  }

  private static void checkFormat(ByteBuffer bytes, int at) {
    int format = bytes.getShort(at);
    int channels = bytes.getShort(at + 2);
    int rate = bytes.getInt(at + 4);
    int bits = bytes.getShort(at + 14);
    if (format != 1 || channels != 1 || rate != RATE || bits != 16) {
      throw new IllegalArgumentException(
          ("expected PCM (1) of 16 bits, 1 channel, 16000 Hz,"
                  + " got format %d of %d bits, %d channels, %d Hz")
              .formatted(format, bits, channels, rate));
    }
  }

  private static byte[] write(double[] samples) {
    int size = 2 * samples.length;
    ByteBuffer wav = ByteBuffer.allocate(HEADER_BYTES + size).order(ByteOrder.LITTLE_ENDIAN);
    wav.put("RIFF".getBytes(StandardCharsets.ISO_8859_1)).putInt(HEADER_BYTES - 8 + size);
    wav.put("WAVEfmt ".getBytes(StandardCharsets.ISO_8859_1)).putInt(16);
    wav.putShort((short) 1).putShort((short) 1).putInt(RATE).putInt(2 * RATE);
    wav.putShort((short) 2).putShort((short) 16);
    wav.put("data".getBytes(StandardCharsets.ISO_8859_1)).putInt(size);
    for (double sample : samples) {
      wav.putShort((short) Math.clamp(Math.round(sample * 32_767), -32_768, 32_767));
    }
    return wav.array();
  }

  // ---- The sample ------------------------------------------------------------------------------

  /**
   * Six seconds in a quiet room as a WAV file: somebody speaks from 0.5 s to 2 s, there is loud
   * noise from 3 s to 4 s, and another voice from 4.5 s to 5.5 s.
   */
  public static byte[] sample() {
    double[] samples = new double[6 * RATE];
    Random random = new Random(1);
    for (int i = 0; i < samples.length; i++) {
      boolean noisy = i >= 3 * RATE && i < 4 * RATE;
      samples[i] = random.nextGaussian() * (noisy ? LOUD : QUIET);
    }
    speak(samples, RATE / 2, 2 * RATE, 120);
    speak(samples, 4 * RATE + RATE / 2, 5 * RATE + RATE / 2, 210);
    return write(samples);
  }

  /** Adds syllables: a pulse for each period of the voice, through a vowel's resonances. */
  private static void speak(double[] samples, int from, int to, double pitch) {
    int syllable = RATE / 4;
    double[] voice = new double[to - from];
    double[][] last = new double[2][2]; // of each resonance its last two values
    double phase = 0;
    double power = 0;
    for (int i = 0; i < voice.length; i++) {
      phase += pitch * (1 + 0.2 * Math.sin(8.0 * i / RATE)) / RATE;
      double pulse = Math.floor(phase);
      phase -= pulse;
      int[] vowel = VOWELS[i / syllable % VOWELS.length];
      double sound = resonate(last[0], pulse, vowel[0]) + resonate(last[1], pulse, vowel[1]) / 2;
      double within = i % syllable / (0.75 * syllable); // the rest of it is a pause
      voice[i] = within < 1 ? sound * Math.sqrt(Math.sin(Math.PI * within)) : 0;
      power += voice[i] * voice[i] / voice.length;
    }
    for (int i = 0; i < voice.length; i++) {
      samples[from + i] += voice[i] * LOUD / Math.sqrt(power);
    }
  }

  private static double resonate(double[] last, double pulse, double hertz) {
    double damping = Math.exp(-Math.PI * 100 / RATE); // 100 Hz wide
    double next =
        pulse
            + 2 * damping * Math.cos(2 * Math.PI * hertz / RATE) * last[0]
            - damping * damping * last[1];
    last[1] = last[0];
    last[0] = next;
    return next;
  }
}
