package io.nereid;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;

/**
 * An endpoint that answers JSON requests of its own format with JSON, using the models of a server.
 * When it starts, a server finds the endpoints on its class path by {@link
 * java.util.ServiceLoader}. Many threads call one at the same time; it keeps nothing of a call.
 */
public interface JsonEndpoint {

  /** The path, such as {@code /v1/embeddings}; no other endpoint has the same. */
  String path();

  /** True if requests come with a body and run models; false if they ask about models. */
  boolean infers();

  /** The operation, as OpenAPI 3.1 describes it: a JSON object. */
  String description();

  /**
   * Reads a request, and writes its reply.
   *
   * @throws io.nereid.types.NereidException the request fails; the code decides the status
   */
  void answer(Call call, OutputStream reply) throws IOException;

  /**
   * Writes the reply to a request that failed, in this endpoint or before it.
   *
   * @param status the number of the reply's status
   * @param message the reason, for people
   * @param cause what was thrown
   */
  void fail(int status, String message, Throwable cause, OutputStream reply) throws IOException;

  /** One request. Only the thread that {@link #answer} runs on uses it, until that returns. */
  interface Call {

    /** The body, as it comes. */
    InputStream body();

    /** The models that are there. */
    List<Model> models();

    /**
     * The model of that name.
     *
     * @throws io.nereid.types.NereidException there is none, or it takes no requests
     */
    Model model(String name);

    /**
     * Takes bytes from the heap that requests may hold, until the call ends; fails if none is left.
     */
    void takeHeap(long bytes);

    /**
     * Sends requests side by side and waits for all. When one fails, or the client goes, the others
     * are cancelled.
     *
     * @return their responses, which the caller closes, as it closes the requests
     */
    List<InferResponse> infer(List<InferRequest> requests);
  }
}
