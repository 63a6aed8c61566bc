/**
 * Has two sides answer the requests of a recording, or one side alone and in company, and compares
 * the answers.
 */
package io.nereid.recording.replay;
