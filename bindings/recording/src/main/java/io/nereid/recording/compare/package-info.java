/** Compares answers to the same requests, of which whoever has them tells. */
package io.nereid.recording.compare;
