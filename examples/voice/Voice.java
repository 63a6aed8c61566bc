import io.nereid.client.InferRequest;
import io.nereid.client.InferResponse;
import io.nereid.client.InferStream;
import io.nereid.client.InferenceClient;
import io.nereid.client.Tensor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Streams audio to a server, one request for every 20 ms, and prints where somebody speaks: {@code
 * Voice [SERVER [FILE.wav]]}. Requests to a gRPC server follow each other without waiting for
 * answers; over HTTP each waits for the one before.
 */
public final class Voice {

  private static final String MODEL = "voice";
  private static final int FRAME = 320; // samples
  private static final double FRAME_SECONDS = 0.02;
  private static final double SPEECH = 0.5; // from here on it is

  private final float[] samples;
  private final long sequence = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);

  private Voice(float[] samples) {
    this.samples = samples;
  }

  /** Takes the server's address and a WAV file; without them the local server and the sample. */
  public static void main(String[] args) throws Exception {
    String server = args.length > 0 ? args[0] : "grpc://localhost:8001";
    byte[] wav = args.length > 1 ? Files.readAllBytes(Path.of(args[1])) : Sound.sample();
    try (InferenceClient client = InferenceClient.connect(server)) {
      Voice voice = new Voice(Sound.read(wav));
      print(server.startsWith("grpc") ? voice.stream(client) : voice.ask(client));
    }
  }

  private int frames() {
    return Math.ceilDiv(samples.length, FRAME);
  }

  /** The first request starts the sequence, the last one ends it. */
  private InferRequest request(int frame) {
    float[] audio = Arrays.copyOfRange(samples, frame * FRAME, (frame + 1) * FRAME);
    return InferRequest.builder(MODEL)
        .input("AUDIO", Tensor.ofFloats(audio, 1, FRAME))
        .sequence(sequence, frame == 0, frame == frames() - 1)
        .build();
  }

  private static float speech(InferResponse response) {
    try (response) {
      return response.output("SPEECH").toFloatArray()[0];
    }
  }

  private float[] ask(InferenceClient client) {
    float[] speech = new float[frames()];
    for (int i = 0; i < speech.length; i++) {
      speech[i] = speech(client.infer(request(i)));
    }
    return speech;
  }

  private float[] stream(InferenceClient client) {
    float[] speech = new float[frames()];
    try (InferStream stream = client.openStream()) {
      Thread.startVirtualThread(() -> {
        for (int i = 0; i < frames(); i++) {
          stream.send(request(i));
        }
        stream.finish();
      });
      for (int i = 0; i < speech.length; i++) {
        speech[i] = speech(stream.next());
      }
    }
    return speech;
  }

  private static void print(float[] speech) {
    int begin = -1; // of the speech that goes on
    for (int i = 0; i <= speech.length; i++) {
      boolean speaks = i < speech.length && speech[i] >= SPEECH;
      if (speaks && begin < 0) {
        begin = i;
      } else if (!speaks && begin >= 0) {
        System.out.printf(
            Locale.ROOT,
            "speech from %5.2f s to %5.2f s%n",
            begin * FRAME_SECONDS,
            i * FRAME_SECONDS);
        begin = -1;
      }
    }
    System.out.printf(Locale.ROOT, "%.2f s of audio%n", speech.length * FRAME_SECONDS);
  }
}
