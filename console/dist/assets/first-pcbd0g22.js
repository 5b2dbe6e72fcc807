import{H,Bt,en}from"/console/assets/first-kzb1pj12.js";var r=1e6;function Sn(o,u,f){let{input_mtok:t,output_mtok:e}=o??{};if(typeof t!=="number")return;let n=en(H(t),u,r);if(typeof e!=="number")return n;return Bt(n,en(H(e),f,r))}
export{Sn};
